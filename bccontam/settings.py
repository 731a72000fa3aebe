"""One Settings model for both front doors: read from the Action's `INPUT_*` variables or from flags.

Every value arrives as text, is checked strictly here, and is named in the message when it is wrong. An empty
string means "not given". Nothing is looked up here: no file is read and no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict

from bccontam.errors import SettingsError

Mode = Literal["run", "predict", "report", "plan"]
Backend = Literal["copilot", "copilot-cli", "openai", "naming", "replay"]
Metric = Literal["basename", "suffix", "exact"]

_ASKING = ("run", "predict", "plan")
_JUDGING = ("run", "report", "plan")
_ALL = ("run", "predict", "report", "plan")


def _strict_bool(value: object) -> object:
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise ValueError("use true or false")
        return value == "true"
    return value


def _strict_int(value: object) -> object:
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise ValueError("use a whole number such as 3")
        return int(value)
    return value


def _strict_float(value: object) -> object:
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]{0,9}\.?[0-9]{1,9}", value):
            raise ValueError("use a number such as 0.05")
        return float(value)
    return value


def _day(value: object) -> object:
    if isinstance(value, str) and value != "auto":
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
            raise ValueError("use a day such as 2025-06-01, or auto")
        try:
            return date.fromisoformat(value)
        except ValueError as error:
            raise ValueError(f"no such day ({error}); use a day such as 2025-06-01, or auto") from None
    return value


Bool = Annotated[bool, BeforeValidator(_strict_bool)]
Int = Annotated[int, BeforeValidator(_strict_int)]
Float = Annotated[float, BeforeValidator(_strict_float)]


def _option(default: Any, description: str, modes: tuple[str, ...] = _ALL, *, flag_only: bool = False) -> Any:
    """A field with its sentence; `modes` are the commands that have it as a flag."""
    extra: JsonDict = {"modes": list(modes), "flag_only": flag_only}
    return Field(default=default, description=description, json_schema_extra=extra)


class Settings(BaseModel):
    """All inputs of the action, in the order of its contract; the last few exist as flags only."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        populate_by_name=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )

    mode: Mode = _option(
        "run", "What to do: `run` (predict, then report), `predict`, `report` or `plan`.", ()
    )
    dataset: str = _option(
        "dataset/bcbench.jsonl", "Dataset file or glob, relative to the workspace.", _ASKING
    )
    problem_statements: str = _option(
        "",
        "Folder of `<instance_id>/README.md`; empty: `problemstatement` beside the dataset if it is there, "
        "else the row's own `problem_statement`.",
        _ASKING,
    )
    entries: str = _option(
        "all",
        "Which entries: `all`, `changed` (added or modified by this pull request), or ids and globs separated "
        "by commas or new lines.",
        _ASKING,
    )
    shard: str = _option(
        "1/1", "This runner's share of the entries as `i/n`, stable under a fixed n.", _ASKING
    )
    max_requests: Int = _option(
        0, "Stop asking after this many questions; 0 means no cap. What was not asked is reported.", _ASKING
    )
    backend: Backend = _option(
        "copilot", "Who answers: `copilot`, `copilot-cli`, `openai`, `naming` or `replay`.", _ASKING
    )
    model: str = _option("", "Model id; required for `copilot`, `copilot-cli` and `openai`.")
    base_url: str = _option(
        "",
        "For `openai`: the base URL of a server that speaks chat completions, such as https://host/v1.",
        _ASKING,
    )
    api_key: SecretStr = _option(SecretStr(""), "For `openai`: the key of that server.", ("run", "predict"))
    copilot_token: SecretStr = _option(
        SecretStr(""),
        "Token for Copilot; empty: the step's `COPILOT_GITHUB_TOKEN`, then `github-token`.",
        ("run", "predict"),
    )
    answers: str = _option(
        "", "For `replay`: file of JSON lines with `instance_id` and `raw_output`.", ("run", "predict")
    )
    top_k: Int = _option(3, "Paths asked for and counted per answer.", _ASKING)
    samples: Int = _option(1, "Answers per entry.", _ASKING)
    prompt: str = _option(
        "al",
        "Prompt: `al` (states the AL file name convention), `generic`, `paper` (one path), or a template file.",
        _ASKING,
    )
    concurrency: Int = _option(4, "Questions in flight at a time.", ("run", "predict"))
    timeout: Int = _option(300, "Seconds for one answer.", ("run", "predict"))
    isolation: Literal["require", "auto", "off"] = _option(
        "auto",
        "Kernel isolation of the model's process: `require` (fail without it), `auto` (say so without it), `off`.",
        ("run", "predict"),
    )
    cutoff: Annotated[date | Literal["auto", ""], BeforeValidator(_day)] = _option(
        "",
        "Cutoff day `YYYY-MM-DD`, `auto` (the model's own, from the shipped table), or empty: baseline only.",
        _JUDGING,
    )
    guard_days: Int = _option(0, "Entries this close to the cutoff belong to neither group.", _JUDGING)
    metric: Metric = _option("basename", "Which hit decides: `basename`, `suffix` or `exact`.", _JUDGING)
    min_effect: Float = _option(
        0.10, "Smallest difference of the hit rates that matters, from 0 to 1.", _JUDGING
    )
    alpha: Float = _option(0.05, "Level of the test, between 0 and 1.", _JUDGING)
    max_error_rate: Float = _option(
        0.2, "Share of errors in a group above which the verdict is inconclusive, from 0 to 1.", _JUDGING
    )
    results_dir: str = _option("contamination-results", "Folder where results are stored and resumed from.")
    baseline: str = _option(
        "", "Stored results of the base branch: the report then shows before and after.", ("run", "report")
    )
    control: str = _option(
        "",
        "Stored results of a comparable, fresher benchmark: its entries are the control group, in place of the "
        "date split.",
        ("run", "report"),
    )
    reference: str = _option(
        "",
        "Stored results of a model trained before every entry, for the difference in differences.",
        ("run", "report"),
    )
    fail_on: Literal["never", "signal", "inconclusive"] = _option(
        "never",
        "When the step fails: `never`, `signal`, or `inconclusive` (which includes `signal`).",
        ("run", "report"),
    )
    comment: Literal["auto", "always", "never"] = _option(
        "auto", "Pull request comment: `auto` (on pull requests), `always` or `never`.", ()
    )
    comment_id: str = _option("", "Tells several reports on one pull request apart.", ())
    summary: Bool = _option(True, "Write the job summary: `true` or `false`.", ())
    reveal_answers: Bool = _option(
        False, "Show gold and predicted paths in reports: `true` or `false`.", ("run", "report")
    )
    template: str = _option(
        "",
        "Your Jinja2 report template, extending the shipped one; rendered in a sandbox.",
        ("run", "report"),
    )
    github_token: SecretStr = _option(SecretStr(""), "Token for the comment and for `entries: changed`.", ())
    dry_run: Bool = _option(False, "Do everything but publish: `true` or `false`.", ())

    file_list: str = _option(
        "",
        "List of real repository paths, one a line, as `git ls-files` prints: adds a keyword-search floor.",
        ("run", "predict"),
        flag_only=True,
    )
    json_schema: Bool = _option(
        False,
        "Ask an `openai` server for an answer by JSON schema: `true` or `false`; small local models need it.",
        ("run", "predict"),
        flag_only=True,
    )
    control_rate: Float = _option(
        0.10, "Hit rate of fresh entries that a plan assumes, from 0 to 1.", ("plan",), flag_only=True
    )
    group_by_model: Bool = _option(
        False,
        "Report each model, prompt and top-k found in the results on its own.",
        ("report",),
        flag_only=True,
    )
    output: str = _option(
        "",
        "Where the Markdown report is written; empty: `report.md` in the results folder.",
        _JUDGING,
        flag_only=True,
    )
    json_file: str = _option(
        "", "Also write the numbers as JSON to this file (`-`: standard output).", _JUDGING, flag_only=True
    )
    html_file: str = _option(
        "",
        "Also write the report as one self-contained page to this file, with its entries to sort and filter.",
        ("run", "report"),
        flag_only=True,
    )

    @field_validator("top_k", "samples", "concurrency", "timeout")
    @classmethod
    def _at_least_one(cls, value: int) -> int:
        if value < 1:
            raise ValueError("use a whole number of at least 1")
        return value

    @field_validator("alpha")
    @classmethod
    def _open_unit(cls, value: float) -> float:
        if not 0 < value < 1:
            raise ValueError("use a number between 0 and 1, such as 0.05")
        return value

    @field_validator("min_effect", "max_error_rate", "control_rate")
    @classmethod
    def _closed_unit(cls, value: float) -> float:
        if not 0 <= value <= 1:
            raise ValueError("use a number from 0 to 1, such as 0.10")
        return value

    @field_validator("shard")
    @classmethod
    def _is_shard(cls, value: str) -> str:
        match = re.fullmatch(r"([1-9][0-9]{0,4})/([1-9][0-9]{0,4})", value)
        if not match or int(match[1]) > int(match[2]):
            raise ValueError("use i/n with 1 <= i <= n, such as 2/8")
        return value

    @field_validator("comment_id")
    @classmethod
    def _is_plain(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_.-]{0,64}", value):
            raise ValueError("use up to 64 letters, digits, dots, dashes and underscores")
        return value

    @field_validator("base_url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", value):
            raise ValueError("use an address such as https://host/v1")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _needs(self) -> Self:
        asks = self.mode in ("run", "predict")
        if asks and self.backend in ("copilot", "copilot-cli", "openai") and not self.model:
            raise ValueError(f"model: needed for the backend {self.backend}; give a model id")
        if asks and self.backend == "openai" and not self.base_url:
            raise ValueError("base-url: needed for the backend openai; give the server's address")
        if asks and self.backend == "replay" and not self.answers:
            raise ValueError("answers: needed for the backend replay; give a file of stored answers")
        if self.cutoff != "" and self.control:
            raise ValueError("control: takes the place of the date split; give cutoff or control, not both")
        return self

    @property
    def shard_index(self) -> tuple[int, int]:
        """`(i, n)` of the shard, 1-based."""
        index, count = self.shard.split("/")
        return int(index), int(count)

    @property
    def results_path(self) -> Path:
        """The results folder as a path."""
        return Path(self.results_dir)


def inputs() -> dict[str, str]:
    """Name in kebab case -> description, for every input of the action, in the order of the contract."""
    return {
        name.replace("_", "-"): str(field.description)
        for name, field in Settings.model_fields.items()
        if not _extra(name)["flag_only"]
    }


def flags(mode: str) -> list[str]:
    """Field names that the command `mode` has as flags, in the order of the contract."""
    return [name for name in Settings.model_fields if mode in _extra(name)["modes"]]


def default_text(name: str) -> str:
    """The default of a field as an input's text: `true`, `0.1`, an empty string."""
    value = Settings.model_fields[name].default
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, bool):
        return str(value).lower()
    return "0.10" if name in ("min_effect", "control_rate") else str(value)


def _extra(name: str) -> dict[str, Any]:
    extra = Settings.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    return extra


def make_settings(given: Mapping[str, str]) -> Settings:
    """Settings from `{kebab name: text}`; empty text is not given. Raises SettingsError naming the input."""
    known = {name.replace("_", "-"): name for name in Settings.model_fields}
    values: dict[str, str] = {}
    for name, text in given.items():
        kebab = name.replace("_", "-")
        if kebab not in known:
            raise SettingsError(f"Unknown input {name!r}: choose from {', '.join(known)}.")
        if text.strip():
            values[known[kebab]] = text.strip()
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_sentence(error)) from None


def settings_from_environment(environ: Mapping[str, str]) -> Settings:
    """Settings from the runner's `INPUT_*` variables (`INPUT_TOP-K`; the spelling `INPUT_TOP_K` is accepted).

    The hyphen spelling wins where both are given. Raises SettingsError.
    """
    given: dict[str, str] = {}
    for name in inputs():
        for spelling in (f"INPUT_{name.upper()}", f"INPUT_{name.upper().replace('-', '_')}"):
            if environ.get(spelling, "").strip():
                given[name] = environ[spelling]
                break
    return make_settings(given)


def _sentence(error: ValidationError) -> str:
    """Every wrong input with what is allowed, in one sentence; values are not echoed: they may be secret."""
    problems = []
    for item in error.errors(include_input=False, include_url=False):
        where = str(item["loc"][0]).replace("_", "-") if item["loc"] else ""
        message = str(item["msg"]).removeprefix("Value error, ")
        if item["type"] == "literal_error":
            message = f"use one of {item['ctx']['expected'].replace(' or ', ', ')}".replace("'", "")
        problem = f"{where}: {message}" if where else message
        if problem not in problems:
            problems.append(problem)
    return f"Bad input: {'; '.join(problems)}."
