"""A headless Chromium, spoken to through a pipe, without ports and downloads; models to show."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.report import comparison
from registry import fit_rows

#: Under these names distributions install it.
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Events that are complaints, and what they say.
COMPLAINTS = {
    "Runtime.exceptionThrown": "exceptionDetails",
    "Runtime.consoleAPICalled": "args",
    "Log.entryAdded": "entry",
    "Page.javascriptDialogOpening": "message",
}
#: Seconds to wait for an answer.
PATIENCE = 60.0


def find_browser() -> str | None:
    """Return the path of a Chromium, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of a browser; everything that it complains about is kept in ``complaints``."""

    def __init__(self, program: str, profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-extensions",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        # The browser reads commands from file 3 and writes answers to file 4.
        shell = 'exec "$0" "$@" 3<&%d 4>&%d' % (ours[0], theirs[1])  # noqa: UP031
        self._process = subprocess.Popen(
            ["bash", "-c", shell, program, *options],
            pass_fds=(ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._out, self._in = ours[1], theirs[0]
        self._buffer, self._count, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        answer = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(10)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path: Path, width: int = 1280, dark: bool = False) -> None:
        """Show a file and wait until it is there."""
        self.complaints, self.requests = [], []
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while self.run("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < end, "the page did not load"
            time.sleep(0.02)

    def run(self, code: str) -> Any:
        """Return the value of some JavaScript."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def _read(self) -> Any:
        """Return the next message; keep those that are complaints."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready = select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]
            assert ready, "the browser does not answer"
            chunk = os.read(self._in, 2**16)
            assert chunk, "the browser has ended"
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        found = json.loads(message)
        self._keep(found.get("method", ""), found.get("params", {}))
        return found

    def _keep(self, method: str, parameters: dict[str, Any]) -> None:
        if method in COMPLAINTS:
            self.complaints.append(json.dumps(parameters[COMPLAINTS[method]]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


def learned(data: fl.Decisions) -> fl.RegionRegressor:
    """Return facets learned from data with the names of their columns."""
    frames = (
        pd.DataFrame(values.copy(), columns=list(names))
        for values, names in zip((data.signals, data.decisions), data.names, strict=True)
    )
    return fit_rows(*frames, fl.Facets(), cost=data.cost)


@pytest.fixture(scope="module", autouse=True)
def _few_regressors() -> Iterator[None]:
    """Compare with three quick predictors; the commands' tests compare with all of them."""
    few = ("mean decision", "linear policy", "ridge regression")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "REGRESSORS", {name: comparison.REGRESSORS[name] for name in few})
        yield


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return one browser for all tests; skip where there is none."""
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    started = Browser(program, tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="session")
def power() -> fl.Decisions:
    """Return the dispatch of three plants."""
    return fl.datasets.make_power5(80, line_capacity=1.5, random_state=0)


@pytest.fixture(scope="session")
def model(power: fl.Decisions) -> fl.RegionRegressor:
    """Return facets learned from it, with the names of the columns."""
    return learned(power)
