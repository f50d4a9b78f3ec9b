"""Fits agree with what was recorded: exact ones to rounding, others by their quality."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from net import measure
from net.cases import EXACT, GROUPS, QUALITY, REFITS, SEARCHES, SEEDS, Table, table

RECORDED, ARRAYS = measure.recorded(), measure.arrays()
#: Convex fits that are also made from chunks; tests/distributed makes such on a cluster.
CHUNKED = ("noisy hypersimplices", "noisy box-scale", "noisy policy", "gaps hypersimplices")
#: Fits by a conic program, not by moments. An interior-point method ends at a loss that is right to
#: 1e-10; coefficients that hardly count in it are right to 1e-6 only. So losses are compared as all
#: others are, decisions to 1e-6.
CONIC = (
    "ties hypersimplices",
    "ties box-scale",
    "noisy hypersimplices p-l2",
    "noisy scaled-l1 p-l2",
)
#: Of these, programs that are solved to 1e-8 only: decisions under other prices than those observed
#: move by 1e-4 between optima as good, so that their loss and their predictions are compared alone.
FLAT = ("noisy hypersimplices p-l2", "noisy scaled-l1 p-l2")


def same_decisions(
    model: fl.RegionRegressor, name: str, data: Table, relative: float = 1e-9
) -> None:
    """Compare decisions with those recorded; at a tie any decision of least cost will do."""
    size = np.nanmax(np.abs(data.decisions))
    for what, found in measure.decisions(model, data).items():
        if what == "whatif" and name in FLAT:
            continue
        expected = ARRAYS[f"{name}/{what}"]
        far = np.abs(found - expected).max(axis=1) > relative * size
        if not far.any():
            continue
        assert what == "whatif" or model.cost_ is not None, (name, what)
        costs = data.prices if what == "whatif" else model.cost_.evaluate(data.new)
        for i in np.flatnonzero(far):
            gap = abs(costs[i] @ (found[i] - expected[i]))
            assert gap <= relative * size * np.abs(costs[i]).sum(), (name, what, i)
            outside = model.region(data.new[i]).distance(expected[i])
            assert outside <= max(1e-7, relative) * size, (name, what, i)


@pytest.mark.parametrize("name", EXACT)
def test_exact_fits(name: str) -> None:
    case, told = EXACT[name], RECORDED["exact"][name]
    model = case.fit()
    found = measure.result(model)
    assert found.pop("status") == told["status"]
    spread = float(np.nanvar(table(case.table).decisions))
    for key, value in found.items():
        if value is None or told[key] is None:
            assert value == told[key], key
        else:
            assert value == pytest.approx(told[key], rel=1e-8, abs=1e-8 * spread), key
    same_decisions(model, name, table(case.table), 1e-6 if name in CONIC else 1e-8)


#: In `make test`; the others in `make soak`.
QUICK = ("noisy hypersimplices known box", "noisy pairs known both", "noisy policy known rows")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.soak) for name in REFITS],
)
def test_refits_within_known_constraints_are_as_good_on_average(name: str) -> None:
    _as_good_on_average("refits", name)


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_are_as_good_on_average(name: str) -> None:
    _as_good_on_average("searches", name)


def _as_good_on_average(group: str, name: str) -> None:
    case, seeds = GROUPS[group][name], SEEDS[group][: 2 if group == "refits" else 5]
    before = np.array(RECORDED[group][name]["losses"])[: len(seeds)]
    now = np.array([case.fit(random_state=seed).result_.objective for seed in seeds])
    error = np.sqrt((before.var(ddof=1) + now.var(ddof=1)) / len(seeds))
    assert now.mean() <= before.mean() + 2.0 * error + 1e-9


@pytest.mark.parametrize("name", QUALITY)
def test_facets_and_the_default_are_as_good(name: str) -> None:
    case, told = QUALITY[name], RECORDED["quality"][name]
    found = measure.quality(case.fit(), table(case.table))
    assert found["r2"] >= told["r2"] - 0.002
    assert found["empty"] <= told["empty"]
    assert found["infeasible"] <= told["infeasible"]


@pytest.mark.parametrize("n_chunks", [2, 7])
@pytest.mark.parametrize("name", CHUNKED)
def test_chunks_are_the_same_fit(name: str, n_chunks: int) -> None:
    case = EXACT[name]
    data = table(case.table)
    parts = list(
        zip(
            *(np.array_split(each, n_chunks) for each in (data.signals, data.decisions)),
            strict=True,
        )
    )
    model = case.model().fit(fl.Chunks(lambda: iter(parts)))
    _same_fit(model, name, data)


def _same_fit(model: fl.RegionRegressor, name: str, data: Table) -> None:
    told = RECORDED["exact"][name]
    assert model.result_.objective == pytest.approx(told["objective"], rel=1e-8)
    same_decisions(model, name, data, 1e-8)
