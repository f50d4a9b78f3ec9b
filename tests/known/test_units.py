"""Fits within known constraints are as good in any units of decisions and signals."""

from __future__ import annotations

import numpy as np

from feaslearn.known import KnownLimits
from feaslearn.known.known_limits import pseudo_inverse


def test_small_decisions_that_break_what_is_known_are_seen() -> None:
    sides = (np.zeros((1, 0)), np.zeros((1, 2)), np.full((1, 2), 1e-7), np.zeros((1, 0)))
    limits = KnownLimits(np.zeros((0, 2)), np.zeros((0, 2)), *sides)
    assert limits.violated(np.array([[1.001e-7, 0.0]]), 1e-6)[0]
    assert not limits.violated(np.array([[1e-7, -1e-22]]), 1e-6)[0]


def test_equalities_that_say_the_same_count_once() -> None:
    """The second singular value is rounding, which must not be inverted."""
    for size in (0.3, 0.1, 1e-3, 7.0):
        E = np.outer([1.0, size, 1.0 / size], [0.1, 0.7, 1.3])
        across = np.outer(E[0], E[0]) / (E[0] @ E[0])
        np.testing.assert_allclose(pseudo_inverse(E) @ E, across, atol=1e-12)
