"""Decisions in a cross-polytope around the point (1, ..., 1)."""

from __future__ import annotations

from numbers import Real

import numpy as np

from feaslearn.data import Decisions
from feaslearn.datasets._arguments import (
    RandomState,
    check_common,
    check_room,
    constant_feature,
    numbered,
    uniform,
)
from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses import Scaled
from feaslearn.parameters import POSITIVE, Integer, check_value
from feaslearn.problem import LearnedProblem
from feaslearn.sets import L1Ball


def make_l1_ball(
    n_samples: int,
    n: int = 5,
    radius: float = 1.0,
    noise: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
) -> Decisions:
    """Make decisions of least cost in a ball of the l1 norm.

    ``min { c'x : ||x - e||_1 <= radius }`` with e = (1, ..., 1).

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    n : int, default 5
        How many entries a decision has.
    radius : float, default 1.0
        The radius of the ball.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions.
    low, high : float, default 0.0 and 1.0
        The range of the costs, which are uniform and are the signals.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.
    signal_noise : float, default 0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.

    Returns
    -------
    Decisions
        Signals ``cost_1`` to ``cost_n``, decisions ``x_1`` to ``x_n``, and the ball as ``forward``.

    Examples
    --------
    >>> from feaslearn.datasets import make_l1_ball
    >>> data = make_l1_ball(3, n=2, low=-1.0, random_state=0)
    >>> abs(data.decisions - 1.0).sum(axis=1)
    array([1., 1., 1.])
    """
    problems = Problems()
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    check_value("n", n, Integer(1), problems)
    check_value("radius", radius, POSITIVE, problems)
    if not isinstance(low, Real) or not isinstance(high, Real) or not -np.inf < low < high < np.inf:
        problems.add(f"low is {low!r} and high is {high!r}, expected two numbers, low below high")
    problems.raise_if_any(DataError, "make_l1_ball")
    check_room("make_l1_ball", n_samples, 2 * n)
    costs = uniform(draw.streams.signals, n_samples, [(low, high)] * n)
    scaled = Scaled(L1Ball(n))
    blocks = {"alpha": np.array([radius]), "b": np.ones((1, n))}
    ball = LearnedProblem(scaled, scaled.layout(n, 1).pack(blocks), constant_feature)
    return draw.observed(costs, ball.solve(costs, costs), *numbered("cost", "x", n), ball)
