"""Terms, patterns and sums that grow: options, refusals and what they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.hypotheses.term import TermPatterns
from feaslearn.hypotheses.term_minimizers import TermMinimizers


@pytest.mark.parametrize(
    ("terms", "count"),
    [
        ([fl.Term(fl.Simplex(3)), fl.Term(fl.Box(2), [2, 0])], 18),
        ([fl.Term(fl.L1Ball(3)), fl.Term(fl.Simplex(2), [2, 1], [2.0, -0.5])], 58),
        ([fl.Term(fl.Hypersimplex(3, 2)), fl.Term(fl.Product([fl.Box(1), fl.Simplex(2)]))], 12),
        ([fl.Term(fl.L2Ball(3))], 0),
        ([fl.Term(fl.Simplex(2), [0, 1], [1.0, 0.0])], 0),
        ([fl.Term(fl.Box(1), matrix=[[1.0], [0.0], [0.0]])], 0),
    ],
)
def test_costs_of_one_pattern_have_the_same_minimisers(terms: list[fl.Term], count: int) -> None:
    patterns = TermPatterns.of(terms, 3)
    assert (patterns is not None) == (count > 0)
    if patterns is None:
        return
    costs = np.random.default_rng(0).normal(size=(300, 3))
    points = TermMinimizers(terms, 3).at(costs).points
    found = patterns.at(np.ascontiguousarray(costs.T), np.zeros((3, 300)))
    assert found is not None
    numbers, rows = found
    assert numbers.min() == 0
    np.testing.assert_array_equal(points, points[rows[numbers]])
    # Of orders and signs that can be: six orders of three prices, times signs that fit them.
    assert len(rows) == count


def test_sums_that_grow() -> None:
    model = fl.GrownMinkowski(max_terms=4, scale="tents", n_knots=3)
    shapes = {name: block.shape for name, block in _blocks(model, 3, 2).items()}
    assert shapes["shapes"] == (4, 3)
    assert shapes["b"] == (2, 3)
    assert "knots" in shapes
    assert "b" not in _blocks(fl.GrownMinkowski(offset=False), 3, 2)
    assert "knots" not in _blocks(fl.GrownMinkowski(), 3, 2)
    np.testing.assert_array_equal(
        model.term(np.array([1.0, 0.0, 0.9])).embedding(3)[:, 1], [0, 0, 1]
    )
    assert model.term(np.zeros(3)).primitive.dimension == 1
    segment = fl.GrownMinkowski("segments").term(np.array([1.0, -2.0, 0.0]))
    np.testing.assert_array_equal(segment.embedding(3)[:, 0], [1.0, -2.0, 0.0])
    np.testing.assert_array_equal(segment.primitive.limits(), [[0.0], [1.0]])
    fl.GrownMinkowski("segments", scale="box").check(3)
    listed = model.listed([fl.Term(fl.Simplex(3))])
    assert (listed.scale, listed.offset, listed.n_knots) == ("tents", True, 3)
    with pytest.raises(DataError) as caught:
        fl.GrownMinkowski("simplex", max_terms=0, scale="affine").check(3)
    for said in ("family='simplex'", "scale='affine'", "max_terms"):
        assert said in str(caught.value)


def _blocks(model: fl.GrownMinkowski, n: int, k: int) -> Any:
    layout = model.layout(n, k)
    return layout.unpack(np.zeros(layout.size))
