"""Prompt templates and their rendering: what the model is told, and nothing else.

A prompt is one Jinja2 template with the blocks `system` and `user`. The problem statement goes in unchanged,
between delimiter lines that cannot occur in it and are the same on every run. This module reads no dataset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bccontam.answer import EXAMPLE_PATHS
from bccontam.entry import Entry
from bccontam.errors import PatchError, PromptError
from bccontam.paths import basename

if TYPE_CHECKING:
    from jinja2 import Template

SHIPPED = ("al", "generic", "paper")
_FOLDER = Path(__file__).parent
_FILE_NAME = re.compile(r"[\w.$()+-]+\.[A-Za-z]\w{0,9}\b")


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """The two messages of one question; `system` may be empty."""

    system: str
    user: str


@dataclass(frozen=True)
class Prompt:
    """A template by name. `version` is a digest of its text: another wording is another experiment."""

    name: str
    source: str

    @cached_property
    def version(self) -> str:
        """`NAME@DIGEST`, the first 12 hexadecimal digits of the SHA-256 of the template."""
        return f"{self.name}@{hashlib.sha256(self.source.encode()).hexdigest()[:12]}"

    @cached_property
    def _template(self) -> Template:
        from jinja2 import StrictUndefined, TemplateSyntaxError
        from jinja2.sandbox import SandboxedEnvironment

        environment = SandboxedEnvironment(
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
        )
        try:
            template = environment.from_string(self.source)
        except TemplateSyntaxError as error:
            raise PromptError(
                f"The prompt template {self.name} cannot be read: line {error.lineno}: {error.message}."
            ) from error
        if "user" not in template.blocks:
            raise PromptError(
                f"The prompt template {self.name} has no block `user`: put the question into one."
            )
        return template

    def render(self, entry: Entry, top_k: int) -> RenderedPrompt:
        """The messages for one entry. Raises PromptError when the template fails on it."""
        from jinja2 import TemplateError

        statement = entry.problem_statement
        values: dict[str, Any] = {
            "repo": entry.repo,
            "top_k": top_k,
            "problem_statement": statement,
            "delimiter": delimiter_for(statement),
            "example": list(EXAMPLE_PATHS),
        }
        template = self._template
        try:
            context = template.new_context(values)
            user = "".join(template.blocks["user"](context)).strip("\n")
            system = (
                "".join(template.blocks["system"](context)).strip() if "system" in template.blocks else ""
            )
        except TemplateError as error:
            raise PromptError(
                f"The prompt template {self.name} fails on {entry.instance_id!r}: {error}."
            ) from error
        if statement not in user:
            raise PromptError(
                f"The prompt template {self.name} does not hold the problem statement unchanged: "
                "write {{ problem_statement }} on a line of its own in its block `user`."
            )
        return RenderedPrompt(system, user)


def load_prompt(name: str) -> Prompt:
    """A shipped prompt by name, or the user's own template by file path. Raises PromptError."""
    path = _FOLDER / f"{name}.j2" if name in SHIPPED else Path(name)
    try:
        return Prompt(name if name in SHIPPED else path.name, path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PromptError(
            f"Unknown prompt {name!r}: choose {', '.join(SHIPPED)} or give the path of a template file."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"The prompt template {path} cannot be read: {error}.") from error


def delimiter_for(statement: str) -> str:
    """A line that does not occur in the statement: derived from its text, so the same on every run."""
    salt = 0
    while True:
        digest = hashlib.sha256(f"{salt}\0{statement}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        if digest not in statement:
            return f"report-{digest}"
        salt += 1


def lint_prompt(prompt: Prompt, entries: Iterable[Entry], top_k: int = 3) -> None:
    """Refuse a prompt that gives an answer away: no file name in it may be a gold basename of the dataset.

    Raises PromptError that names the prompt and the entry, not the file: the answer key stays closed.
    """
    blank = Entry(
        instance_id="lint", repo="owner/name", created_at=None, problem_statement="(report)", patch=""
    )
    rendered = prompt.render(blank, top_k)
    named = {basename(name) for name in _FILE_NAME.findall(f"{rendered.system}\n{rendered.user}")}
    for entry in entries:
        if not _may_touch(entry.patch, named):
            continue
        try:
            gold = {basename(file.path) for file in entry.gold_files}
        except PatchError:
            continue
        if gold & named:
            raise PromptError(
                f"The prompt {prompt.name} names a file that is a gold file of {entry.instance_id!r}: "
                "change the example in the prompt, or that entry's answer is given away."
            )


def _may_touch(patch: str, named: Collection[str]) -> bool:
    """Whether a patch could touch a file of one of these names, which are lower-cased; quicker than its gold files.

    In plain text a name stands as it is. A patch with escapes, another encoding or letters that are folded when
    paths are compared may hide it, so that one is always worth a look.
    """
    if "\\" in patch or "\0" in patch or not patch.isascii():
        return True
    lowered = patch.lower()
    return any(name in lowered for name in named)
