"""Moments added up by patterns of costs are those of every sample on its own."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.trainers.minkowski_fit.block_moments import BlockMoments
from feaslearn.trainers.minkowski_fit.moments import Units

SUMS = {
    "hypersimplices": fl.Minkowski.hypersimplices(3),
    "pairs, no offset": fl.Minkowski.pairs(3, offset=False),
    "shared": fl.Minkowski.hypersimplices(3, scale="shared"),
    "boxes": fl.Minkowski.box(3, scale="box"),
    "index": fl.Minkowski.hypersimplices(3, scale="index", offset=False),
    "weighted": fl.Minkowski([fl.Term(fl.Simplex(2), [0, 2], [-1.0, 2.0]), fl.Term(fl.L1Ball(3))]),
}


@pytest.mark.parametrize("name", SUMS)
def test_patterns_give_the_moments_of_single_samples(name: str) -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
    costs, decisions = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    costs[4], decisions[9, 1] = 1.0, np.nan
    block = Block(features, costs, decisions, rng.uniform(size=300))
    units = Units.of(block, offset=True, exact=True)
    basis = SUMS[name].basis(3)
    knots = basis.place_knots(features, decisions) if basis.knotted else None
    quick = BlockMoments(SUMS[name], 3, 3, units, knots)
    assert quick.patterns is not None
    slow = BlockMoments(SUMS[name], 3, 3, units, knots)
    slow.patterns = None
    for one, other in zip(quick.of(block), slow.of(block), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
