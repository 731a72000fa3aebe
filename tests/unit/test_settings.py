from __future__ import annotations

from datetime import date

import pytest

from bccontam.errors import SettingsError
from bccontam.settings import Settings, flags, inputs, make_settings, settings_from_environment


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = make_settings({"mode": "report"})
    assert settings.top_k == 3
    assert settings.metric == "basename"
    assert settings.cutoff == ""
    assert settings.results_dir == "contamination-results"
    assert settings.fail_on == "never"
    assert settings.summary is True


def test_hyphens_are_kept_by_the_runner_and_the_underscore_spelling_is_accepted() -> None:
    environ = {"INPUT_MODE": "report", "INPUT_TOP-K": "5", "INPUT_GUARD_DAYS": "7", "INPUT_FAIL-ON": ""}
    settings = settings_from_environment(environ)
    assert (settings.top_k, settings.guard_days, settings.fail_on) == (5, 7, "never")


def test_the_hyphen_spelling_wins() -> None:
    assert (
        settings_from_environment({"INPUT_MODE": "plan", "INPUT_TOP-K": "5", "INPUT_TOP_K": "9"}).top_k == 5
    )


def test_an_empty_or_blank_input_is_not_given() -> None:
    assert (
        settings_from_environment({"INPUT_MODE": "plan", "INPUT_TOP-K": " ", "INPUT_CUTOFF": ""}).top_k == 3
    )


def test_flag_only_settings_are_not_read_from_the_environment() -> None:
    assert settings_from_environment({"INPUT_MODE": "plan", "INPUT_OUTPUT": "x"}).output == ""


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("mode", "start", "run, predict, report, plan"),
        ("backend", "github-models", "copilot, copilot-cli, openai, naming, replay"),
        ("metric", "recall", "basename, suffix, exact"),
        ("fail-on", "true", "never, signal, inconclusive"),
        ("isolation", "yes", "require, auto, off"),
        ("summary", "yes", "true or false"),
        ("summary", "True", "true or false"),
        ("top-k", "0", "at least 1"),
        ("top-k", "3.5", "whole number"),
        ("top-k", "-3", "whole number"),
        ("top-k", "٣", "whole number"),
        ("alpha", "0", "between 0 and 1"),
        ("alpha", "1", "between 0 and 1"),
        ("alpha", "nan", "number"),
        ("alpha", "1e-2", "number"),
        ("min-effect", "1.5", "from 0 to 1"),
        ("min-effect", "-0.1", "number"),
        ("cutoff", "2025-02-30", "no such day"),
        ("cutoff", "1 June 2025", "2025-06-01"),
        ("shard", "0/4", "1 <= i <= n"),
        ("shard", "5/4", "1 <= i <= n"),
        ("comment-id", "a b", "letters"),
        ("base-url", "localhost:8080", "https://host/v1"),
        ("base-url", "file:///etc/passwd", "https://host/v1"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(name: str, text: str, allowed: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: ") as caught:
        make_settings({"mode": "report", name: text} if name != "mode" else {name: text})
    assert allowed in str(caught.value)


def test_every_wrong_value_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        make_settings({"mode": "report", "alpha": "2", "metric": "x"})
    assert "alpha: " in str(caught.value)
    assert "metric: " in str(caught.value)


def test_an_unknown_input_is_named() -> None:
    with pytest.raises(SettingsError, match="Unknown input 'topk'"):
        make_settings({"topk": "3"})


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"backend": "openai", "base-url": "http://h/v1"}, "model"),
        ({"backend": "openai", "model": "m"}, "base-url"),
        ({"backend": "copilot"}, "model"),
        ({"backend": "replay"}, "answers"),
    ],
)
def test_a_backend_names_what_it_needs(given: dict[str, str], missing: str) -> None:
    with pytest.raises(SettingsError, match=f"{missing}: needed"):
        make_settings(given)


def test_a_report_needs_no_model() -> None:
    assert make_settings({"mode": "report"}).model == ""


def test_secrets_are_in_no_representation_and_no_message() -> None:
    secrets = {"api-key": "hush-1", "copilot-token": "hush-2", "github-token": "hush-3"}
    settings = make_settings({"mode": "plan", **secrets})
    assert "hush" not in repr(settings)
    assert "hush" not in str(settings)
    assert "hush" not in settings.model_dump_json()
    with pytest.raises(SettingsError) as caught:
        make_settings({"mode": "x", **secrets})
    assert "hush" not in str(caught.value)


def test_values_are_not_echoed_in_messages() -> None:
    with pytest.raises(SettingsError) as caught:
        make_settings({"mode": "report", "cutoff": "::error::boom"})
    assert "boom" not in str(caught.value)


def test_cutoff_and_control_exclude_each_other() -> None:
    with pytest.raises(SettingsError, match="control"):
        make_settings({"mode": "report", "cutoff": "2025-06-01", "control": "other"})


def test_a_cutoff_becomes_a_day() -> None:
    assert make_settings({"mode": "report", "cutoff": "2025-06-01"}).cutoff == date(2025, 6, 1)
    assert make_settings({"mode": "report", "cutoff": "auto"}).cutoff == "auto"


def test_every_input_has_a_sentence_and_every_mode_its_flags() -> None:
    assert all(text.endswith(".") for text in inputs().values())
    assert "answers" not in flags("report")
    assert {"dataset", "model", "cutoff"} <= set(flags("run"))
    assert set(flags("run")) <= set(Settings.model_fields)
