"""Decisions in an ellipsoid."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.data import Decisions
from feaslearn.datasets._arguments import (
    RandomState,
    check_common,
    check_room,
    constant_feature,
    numbered,
)
from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses import Affine
from feaslearn.parameters import Integer, check_value
from feaslearn.problem import LearnedProblem
from feaslearn.sets import L2Ball


def make_ellipsoid(
    n_samples: int,
    n: int = 2,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
    matrix: ArrayLike | None = None,
    center: ArrayLike | None = None,
) -> Decisions:
    """Make decisions of least cost in an ellipsoid.

    ``min { c'x : x = M z + m, ||z||_2 <= 1 }``, every entry of c a standard normal.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    n : int, default 2
        How many entries a decision has.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.
    signal_noise : float, default 0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.
    matrix : array_like of shape (n, n), optional
        The matrix M; by default symmetric with half-axes between 0.5 and 2 in random directions.
    center : array_like of shape (n,), optional
        The center m; by default (1, ..., 1).

    Returns
    -------
    Decisions
        Signals ``cost_1`` to ``cost_n``, decisions ``x_1`` to ``x_n``, and the ellipsoid as
        ``forward``; its matrix is ``data.forward.image(data.signals[0]).matrix``.

    Examples
    --------
    >>> from feaslearn.datasets import make_ellipsoid
    >>> data = make_ellipsoid(3, matrix=[[2.0, 0.0], [0.0, 1.0]], random_state=0)
    >>> (((data.decisions - 1.0) / [2.0, 1.0]) ** 2).sum(axis=1).round(12)
    array([1., 1., 1.])
    """
    problems = Problems()
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    if not check_value("n", n, Integer(1), problems):
        problems.raise_if_any(DataError, "make_ellipsoid")
    # Where the number of samples is invalid, the size of the matrix alone is checked.
    check_room(
        "make_ellipsoid", 0 if problems.messages else n_samples, 2 * n, beside=4 * int(n) ** 2
    )
    M = _array(problems, "matrix", matrix, (n, n), _random_matrix(draw.streams.structure, n))
    m = _array(problems, "center", center, (n,), np.ones(n))
    problems.raise_if_any(DataError, "make_ellipsoid")
    costs = draw.streams.signals.standard_normal((n_samples, n))
    affine = Affine(L2Ball(n))
    theta = affine.layout(n, 1).pack({"A": M[None], "b": m[None]})
    ellipsoid = LearnedProblem(affine, theta, constant_feature)
    return draw.observed(costs, ellipsoid.solve(costs, costs), *numbered("cost", "x", n), ellipsoid)


def _random_matrix(generator: np.random.Generator, n: int) -> Array:
    directions, _ = np.linalg.qr(generator.standard_normal((n, n)))
    half_axes = generator.uniform(0.5, 2.0, size=n)
    return np.asarray((directions * half_axes) @ directions.T)


def _array(
    problems: Problems,
    name: str,
    given: ArrayLike | None,
    shape: tuple[int, ...],
    default: Array,
) -> Array:
    if given is None:
        return default
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        problems.add(f"{name} is not an array of numbers")
        return default
    if values.shape != shape or not np.isfinite(values).all():
        problems.add(f"{name} has shape {values.shape}, expected finite numbers of shape {shape}")
    return values
