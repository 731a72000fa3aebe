"""A real browser for tests: Chromium through its driver, spoken to with the few WebDriver commands they need.

`script/install-browser` brings it. The browser starts with a profile of its own and fetches nothing by itself.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.support.paths import ROOT
from tests.support.real import need_real

MERMAID = ROOT / ".cache" / "browser" / "mermaid.min.js"
AXE = ROOT / ".cache" / "browser" / "axe.min.js"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which WebDriver names an element (W3C WebDriver, section 12.1)."""
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_SECONDS = 60
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Space": " ", "Shift": "\ue008"}


class Browser:
    """One browser window."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._http = requests.Session()
        self._http.trust_env = False

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self._http.request(method, f"{self._session}{path}", json=body, timeout=_SECONDS)
        value = answer.json()["value"]
        if not answer.ok:
            raise RuntimeError(f"{value['error']}: {value['message']}")
        return value

    def open(self, page: Path) -> None:
        """Load a file."""
        self._call("POST", "/url", {"url": page.as_uri()})

    def run(self, script: str, *words: object) -> Any:
        """What a script returns; a promise is waited for."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(words)})

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return str(self._call("GET", f"/element/{self._find(selector)}/text"))

    def click(self, selector: str) -> None:
        """Click in the middle of an element; fails where something covers it."""
        self._call("POST", f"/element/{self._find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Type into an element."""
        self._call("POST", f"/element/{self._find(selector)}/value", {"text": text})

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        presses = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": presses}]})

    def console(self) -> list[str]:
        """What the browser had to complain about since the last call: errors, refused loads."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def shape(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """The size of the window in CSS pixels, and the colours that pages are asked for."""
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._devtools("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path, *, most: int = 4_000) -> None:
        """The whole page as a PNG, at most `most` pixels high."""
        size = self.run(
            "const d = document.documentElement; return [d.clientWidth, document.body.scrollHeight + 16]"
        )
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], most), "scale": 1}
        taken = self._devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(taken["data"]))

    def _devtools(self, command: str, **parameters: Any) -> Any:
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _find(self, selector: str) -> str:
        found = self._call("POST", "/element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])


@contextmanager
def browser() -> Iterator[Browser]:
    """A fresh browser; skips or fails the test where there is none."""
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    need_real(driver and chromium, "A browser (chromium and chromedriver)")
    assert driver is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [driver, "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with process:
            try:
                assert process.stdout is not None
                said = next(line for line in process.stdout if "successfully on port" in line)
                driver_url = f"http://127.0.0.1:{said.rsplit(' ', 1)[1].strip().rstrip('.')}"
                options = {
                    "binary": chromium,
                    "args": [*_FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"],
                }
                wanted = {
                    "alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
                }
                with requests.Session() as http:
                    http.trust_env = False
                    made = http.post(f"{driver_url}/session", json={"capabilities": wanted}, timeout=_SECONDS)
                    value = made.json()["value"]
                    if not made.ok:
                        raise RuntimeError(f"the browser does not start: {value['message']}")
                    session = f"{driver_url}/session/{value['sessionId']}"
                    yield Browser(session)
                    http.delete(session, timeout=_SECONDS)
            finally:
                process.terminate()
