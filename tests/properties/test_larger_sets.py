"""A larger region never costs more, and never lies further from a decision."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.sets import AffineImage

SETS = (fl.Simplex(3), fl.Box(3), fl.L1Ball(3), fl.L2Ball(3), fl.Hypersimplex(3, 2))


@given(st.integers(0, 2**32 - 1), st.sampled_from(SETS), st.floats(1.0, 3.0))
def test_larger_sets(seed: int, primitive: fl.Simplex, factor: float) -> None:
    random = np.random.default_rng(seed)
    matrix, offset = random.normal(size=(3, primitive.dimension)), random.normal(size=3)
    center = matrix @ primitive.center() + offset
    small = AffineImage(primitive, matrix, offset)
    grown = center - factor * matrix @ primitive.center()
    large = AffineImage(primitive, factor * matrix, grown)
    cost, point = random.normal(size=3), 3.0 * random.normal(size=3)
    assert cost @ large.minimize(cost) <= cost @ small.minimize(cost) + 1e-9
    assert large.distance(point) <= small.distance(point) + 1e-6
