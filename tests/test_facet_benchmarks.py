"""The benchmarks of facets run on a few rows, and judge their claims by what they found."""

from __future__ import annotations

import numpy as np
import pytest

import facet_worlds
import facets_few_rows
import pglib


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


def test_paths_are_shortest_and_power5_is_learned() -> None:
    paths = facets_few_rows.shortest_paths(20, 0)
    balances, leaves = facets_few_rows.grid_balances()
    assert balances.shape == (25, 40)
    np.testing.assert_allclose(paths.arcs @ balances.T, np.tile(leaves, (20, 1)))
    np.testing.assert_array_equal(paths.arcs.sum(axis=1), 8.0)
    regret, forbidden, _ = facets_few_rows.path_regret(50, 1)
    assert regret < 0.05
    assert forbidden == 0.0
    assert facets_few_rows.power5_loss(0)[0] < 0.05
