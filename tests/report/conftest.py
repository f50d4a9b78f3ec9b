"""A browser for the tests, and models to show in it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.report import comparison
from registry import fit_rows
from report.browser import Browser, find_browser


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
