"""A few kills in every run of the tests; `make soak-kill` has fifty."""

from __future__ import annotations

import os

import pytest

from soak.kill import run


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_fits_end_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert run(2, ["gradient descent", "facets"], seed=1) == []
