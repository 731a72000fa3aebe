"""Who answers: one small module per backend, all behind the Protocol in `bccontam.models.base`.

A new backend is one file here and one line in `BACKENDS`. Each is imported only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bccontam.models.base import Model

if TYPE_CHECKING:
    from pydantic import SecretStr

    from bccontam.settings import Settings


@dataclass(frozen=True, slots=True)
class Context:
    """What a backend is made from. `environ` is the caller's whole environment."""

    settings: Settings
    environ: Mapping[str, str]


def _naming(context: Context) -> Model:
    from bccontam.facts import convention_of
    from bccontam.models.naming import NamingModel

    return NamingModel(convention=convention_of(context.settings.prompt))


def _replay(context: Context) -> Model:
    from bccontam.models.replay import ReplayModel

    return ReplayModel(Path(context.settings.answers), context.settings.model)


def _openai(context: Context) -> Model:
    from bccontam.models.openai import OpenAIModel, temperature_for

    settings = context.settings
    return OpenAIModel(
        settings.base_url,
        settings.api_key.get_secret_value(),
        settings.model,
        temperature=temperature_for(settings.samples),
        json_schema=settings.json_schema,
    )


def _copilot(context: Context) -> Model:
    from bccontam.models.copilot import CopilotModel

    return CopilotModel(**_copilot_arguments(context))


def _copilot_cli(context: Context) -> Model:
    from bccontam.models.copilot_cli import CopilotCliModel

    return CopilotCliModel(**_copilot_arguments(context))


def _copilot_arguments(context: Context) -> dict[str, Any]:
    """What both Copilot backends are made from; the workspace and the dataset are what the fence must hide."""
    settings = context.settings
    return {
        "model": settings.model,
        "token": copilot_token(settings, context.environ),
        "isolation": settings.isolation,
        "environ": context.environ,
        "files": _dataset_files(settings),
        "folders": [Path.cwd()],
    }


BACKENDS: dict[str, Callable[[Context], Model]] = {
    "copilot": _copilot,
    "copilot-cli": _copilot_cli,
    "openai": _openai,
    "naming": _naming,
    "replay": _replay,
}


@contextmanager
def make_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Model]:
    """The backend that the settings name, closed at the end. Raises SettingsError or AskError."""
    model = BACKENDS[settings.backend](Context(settings, environ))
    try:
        yield model
    finally:
        model.close()


def copilot_token(settings: Settings, environ: Mapping[str, str]) -> str | None:
    """The token for Copilot: the input, else the step's COPILOT_GITHUB_TOKEN, else the input `github-token`."""
    candidates = (
        _secret(settings.copilot_token),
        environ.get("COPILOT_GITHUB_TOKEN", ""),
        _secret(settings.github_token),
    )
    return next((token for token in candidates if token), None)


def _secret(value: SecretStr) -> str:
    return value.get_secret_value()


def _dataset_files(settings: Settings) -> list[Path]:
    """The files with the answer key, which the model's process must not be able to read."""
    return [Path(path) for path in sorted(glob(settings.dataset, recursive=True))]  # noqa: PTH207 - a whole pattern
