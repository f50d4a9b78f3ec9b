"""Settings that all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("soak", max_examples=2000, deadline=None)
settings.register_profile("few", max_examples=12, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


def pytest_sessionstart() -> None:
    """Compile a half of the kernels in each of two processes, before both need all of them."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        from kernels import compile_half

        compile_half(int(worker.removeprefix("gw")) % 2)


@pytest.fixture
def usual_handler() -> Iterator[None]:
    """Let Ctrl-C be heard: a process that a shell put into the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)
