"""Benchmarks of facets run on a few rows; truths are derived and compared as they count them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import facet_worlds
import facets_few_rows
import pglib
from common.facet_truth import Inequalities, count_recovered
from common.worlds import draw_world


def test_grids_are_learned_and_compared_with_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--cases", "14_ieee:typ", "--rows", "60", "--seeds", "0", "--no-baselines"]
    assert pglib.main(options) == 0
    told = capsys.readouterr().out
    assert "14_ieee      typ     0   60    2  1.00000" in told
    assert "not judged" in told


def test_identified_facets_are_true_and_most_determined_ones_are_called_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts, invented = facet_worlds.run(worlds=4, empty=1)
    assert counts.true == counts.identified
    assert counts.called >= facet_worlds.CALLED * counts.determined > 0
    assert invented == 0
    assert "determined" in capsys.readouterr().out


def test_paths_are_shortest() -> None:
    paths = facets_few_rows.shortest_paths(20, 0)
    balances, leaves = facets_few_rows.grid_balances()
    assert balances.shape == (25, 40)
    np.testing.assert_allclose(paths.arcs @ balances.T, np.tile(leaves, (20, 1)))
    np.testing.assert_array_equal(paths.arcs.sum(axis=1), 8.0)
    regret, forbidden, _ = facets_few_rows.path_regret(50, 1)
    assert regret < 0.05
    assert forbidden == 0.0


def table(rows: Inequalities, identified: bool = True) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(normal=a, limit=f, identified=identified)
        for a, f in zip(*rows, strict=True)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_is_recovered_whatever_its_form(seed: int) -> None:
    world = draw_world(seed)
    random = np.random.default_rng(seed)
    truth, region = world.truth(), world.region
    factors = random.uniform(0.1, 10.0, (len(truth.a), 1))
    along = random.normal(size=(len(truth.a), len(region.E)))
    other = Inequalities(factors * truth.a + along @ region.E, factors * truth.f + along @ region.e)
    found = count_recovered(table(other), truth, world.features, world.decisions)
    assert found.determined > 0
    assert found.recovered == found.determined
    assert found.true == found.identified == len(truth.a)
