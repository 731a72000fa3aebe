from __future__ import annotations

import logging
from typing import Any

import pytest

from bccontam.github.client import ApiError, Client
from bccontam.github.comment import COMMENT_BYTES, comment_text, fit, marker
from tests.support.fault_github import Fault, FaultGithub
from tests.support.publishing import GITHUB_CASES, TOKEN, Waits, noise, publish

pytestmark = pytest.mark.usefixtures("no_proxy")


# Where requests go, and with what.


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
@pytest.mark.parametrize("slash", ["", "/", "//"])
def test_enterprise_servers_have_a_prefix(prefix: str, slash: str) -> None:
    with FaultGithub(prefix=prefix) as server:
        noise(server, 120)
        assert publish(server, api_url=server.url + slash).action == "created"
        assert all(request.path.startswith(f"{prefix}/repos/") for request in server.requests)
        assert {request.headers["authorization"] for request in server.requests} == {f"token {TOKEN}"}


@pytest.mark.skipif(not GITHUB_CASES, reason="the shared cases are not here")
@pytest.mark.parametrize("scheme", [pytest.param("http", id="D045")])
def test_an_enterprise_server_behind_a_proxy(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = GITHUB_CASES["D045"]["expected"]["base_url"].replace("https", scheme)
    with FaultGithub(prefix="/api/v3") as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/api/v3"))
        noise(server, 120)
        assert publish(server, api_url=address).action == "created"
        assert {request.host for request in server.requests} == {"ghe.example.invalid:80"}


def test_a_server_that_redirects_elsewhere_does_not_get_the_token() -> None:
    with (
        FaultGithub() as other,
        FaultGithub(
            Fault(
                "GET",
                301,
                {},
                {"Location": "https://api.example.invalid/repos/acme/widgets/issues/7/comments"},
            )
        ) as server,
    ):
        outcome = publish(server)
        assert "token is not sent" in outcome.warning
        assert not other.requests


@pytest.mark.parametrize("address", ["", "ftp://host", "host", "https://", "http://127.0.0.1:1"])
def test_an_address_without_a_server_is_one_warning(address: str) -> None:
    with FaultGithub() as server:
        assert "GITHUB_API_URL" in publish(server, api_url=address).warning


def test_a_foreign_address_that_pygithub_asserts_on_is_explained() -> None:
    with FaultGithub() as server, Client(server.url, TOKEN, Waits().patience) as client:
        with pytest.raises(ApiError) as caught:
            client.get("https://elsewhere.example.invalid/repos/acme/widgets")
        assert "token is not sent there" in str(caught.value)


@pytest.mark.parametrize("field", [{"token": " "}, {"repository": "a/b/c"}, {"comment_id": "a -->"}])
def test_what_cannot_be_right_is_not_sent(field: dict[str, Any]) -> None:
    with FaultGithub() as server:
        assert publish(server, **field).action == "skipped"
        assert not server.requests


@pytest.mark.parametrize("token", [TOKEN, f"{TOKEN}\nX-Evil: 1"])
@pytest.mark.parametrize(
    "fault",
    [Fault("GET", 500), Fault("GET", 403, {"message": f"bad token {TOKEN}"}), Fault("GET", hang_up=True)],
)
def test_the_token_is_in_no_message(
    token: str, fault: Fault, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG), FaultGithub(*[fault] * 9) as server:
        outcome = publish(server, token=token)
        assert outcome.action == "skipped"
        assert TOKEN not in outcome.warning
    assert TOKEN not in caplog.text
    assert TOKEN not in "".join(capfd.readouterr())


def test_a_message_of_the_server_cannot_give_the_runner_commands() -> None:
    message = "x\n::error::boom ##[group]y \x1b[31m"
    with FaultGithub(Fault("GET", 403, {"message": message})) as server:
        warning = publish(server).warning
        assert "\n" not in warning
        assert "##[" not in warning
        assert "\x1b" not in warning


# What is sent.


@pytest.mark.skipif(not GITHUB_CASES, reason="the shared cases are not here")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("a" * 65_537, id="D049-letters"),
        pytest.param("\N{RAINBOW}" * 65_536, id="D049-rainbows"),
        pytest.param("\N{RAINBOW}" * 65_536 + "a", id="D049-one-more"),
        pytest.param("a" * 64_999 + "\N{EURO SIGN}" * 9, id="D050"),
        pytest.param("| row | \N{EURO SIGN} |\n" * 9_000, id="rows"),
    ],
)
def test_no_more_than_65000_bytes_are_ever_sent(body: str) -> None:
    with FaultGithub() as server:
        publish(server, body)
        (sent,) = server.bodies
        raw = sent.encode()
        assert 60_000 < len(raw) <= COMMENT_BYTES
        assert "\N{REPLACEMENT CHARACTER}" not in sent
        assert "job summary" in sent
        rows = [line for line in sent.split("\n") if line.startswith("| row")]
        assert all(row == "| row | \N{EURO SIGN} |" for row in rows)


@pytest.mark.parametrize("limit", range(1_000, 1_010))
def test_a_cut_falls_between_characters(limit: int) -> None:
    raw = fit("\N{RAINBOW}\N{EURO SIGN}" * 500, limit).encode()
    assert limit - 4 <= len(raw) <= limit


def test_a_text_that_fits_is_sent_as_it_is() -> None:
    assert fit("a" * 65_000, 65_000) == "a" * 65_000
    assert fit("caf\udce9", 100) == "caf\\udce9"


@pytest.mark.parametrize(
    "body",
    [
        f"text\n{marker('')}\nmore",
        f"{marker('other')}\ntext {marker('')} {marker('other')}",
        "<!--bccontam:x-->\n<!-- BCCONTAM -->",
        f"{marker('')}\n{marker('')}\ntwice",
    ],
)
def test_a_body_has_one_marker(body: str) -> None:
    text = comment_text(body, "a")
    assert text.startswith(f"{marker('a')}\n")
    assert text.lower().count("<!--") == 1
