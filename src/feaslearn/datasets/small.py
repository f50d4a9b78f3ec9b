"""Small data sets: a switch, an l1 ball, and a plant that answers to prices."""

from __future__ import annotations

from numbers import Real

import numpy as np

from feaslearn.costs import AffineCost
from feaslearn.data import Decisions, Names
from feaslearn.datasets._arguments import (
    RandomState,
    check_common,
    numbered,
    uniform,
)
from feaslearn.datasets.linear_program import AffineRows, LinearProgram
from feaslearn.exceptions import DataError, Problems
from feaslearn.parameters import POSITIVE, Integer, check_value
from feaslearn.sets import L1Ball

#: The energy that the plant needs in a day, as a share of what it could take.
ENERGY = 0.4


def make_switch(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Decisions:
    """Make decisions that switch from one unit of the first good to one unit of the second.

    ``min { s x_1 + (1 - s) x_2 : x_1 + x_2 = 1, 0 <= x <= 2 }``, s uniform on [0, 1].

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same signals and the same decisions before noise, whatever the noise.

    Returns
    -------
    Decisions
        Signal ``s``, decisions ``x_1`` and ``x_2``, and the true problem as ``forward``.

    Examples
    --------
    >>> from feaslearn.datasets import make_switch
    >>> data = make_switch(100, random_state=0)
    >>> bool((data.decisions[:, 0] == (data.signals[:, 0] < 0.5)).all())
    True
    """
    problems = Problems()
    draw = check_common(problems, n_samples, noise, random_state)
    problems.raise_if_any(DataError, "make_switch")
    signals = uniform(draw.streams.signals, n_samples, [(0.0, 1.0)])
    first = signals[:, 0] <= 0.5
    decisions = np.column_stack([first, ~first]).astype(np.float64)
    total = AffineRows([1.0], [[0.0]])
    cost = AffineCost([0.0, 1.0], [[1.0], [-1.0]])
    program = LinearProgram([[1.0, 1.0]], total, total, [0.0, 0.0], [2.0, 2.0], 2)
    return draw.observed(signals, decisions, cost, Names(("s",), ("x_1", "x_2")), program)


def make_l1_ball(
    n_samples: int,
    n: int = 5,
    radius: float = 1.0,
    noise: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
    random_state: RandomState = None,
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

    Returns
    -------
    Decisions
        Signals ``cost_1`` to ``cost_n``, decisions ``x_1`` to ``x_n``.

    Examples
    --------
    >>> from feaslearn.datasets import make_l1_ball
    >>> data = make_l1_ball(3, n=2, low=-1.0, random_state=0)
    >>> abs(data.decisions - 1.0).sum(axis=1)
    array([1., 1., 1.])
    """
    problems = Problems()
    draw = check_common(problems, n_samples, noise, random_state)
    check_value("n", n, Integer(1), problems)
    check_value("radius", radius, POSITIVE, problems)
    if not isinstance(low, Real) or not isinstance(high, Real) or not -np.inf < low < high < np.inf:
        problems.add(f"low is {low!r} and high is {high!r}, expected two numbers, low below high")
    problems.raise_if_any(DataError, "make_l1_ball")
    costs = uniform(draw.streams.signals, n_samples, [(low, high)] * n)
    decisions = 1.0 + radius * L1Ball(n).argmin(costs)
    return draw.observed(costs, decisions, *numbered("cost", "x", n))


def make_flexible_plant(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    hours: int = 24,
    ramp: float = 0.35,
) -> Decisions:
    """Make the schedules of a plant that answers to hourly prices.

    ``min { p'x : 0 <= x <= 1, sum x = 0.4 hours, |x_{t+1} - x_t| <= ramp }``, prices uniform.

    Parameters
    ----------
    n_samples : int
        How many days to make.
    noise : float, default 0.0
        The standard deviation of Gaussian noise on the schedules.
    random_state : int, Generator, RandomState or None
        Where the randomness comes from. An integer seeds ``numpy.random.SeedSequence``; the same
        seed gives the same prices and the same schedules before noise, whatever the noise.
    hours : int, default 24
        How many hours a day has.
    ramp : float, default 0.35
        By how much consumption can change from one hour to the next.

    Returns
    -------
    Decisions
        Signals ``price_1`` to ``price_24``, decisions ``load_1`` to ``load_24``, and the plant as
        ``forward``.

    Examples
    --------
    >>> from feaslearn.datasets import make_flexible_plant
    >>> data = make_flexible_plant(2, random_state=0)
    >>> data.decisions.sum(axis=1).round(6)
    array([9.6, 9.6])
    """
    problems = Problems()
    draw = check_common(problems, n_samples, noise, random_state)
    check_value("hours", hours, Integer(1), problems)
    check_value("ramp", ramp, POSITIVE, problems)
    problems.raise_if_any(DataError, "make_flexible_plant")
    prices = uniform(draw.streams.signals, n_samples, [(0.0, 1.0)] * hours)
    plant = _plant(hours, ramp)
    schedules = plant.solve(prices, prices)
    return draw.observed(prices, schedules, *numbered("price", "load", hours), plant)


def _plant(hours: int, ramp: float) -> LinearProgram:
    """Return the plant's problem: the energy of the day, then the ramps between its hours."""
    matrix = np.vstack([np.ones(hours), np.diff(np.eye(hours), axis=0)])
    still = np.zeros((hours, hours))
    lower = np.concatenate([[ENERGY * hours], np.full(hours - 1, -ramp)])
    upper = np.concatenate([[ENERGY * hours], np.full(hours - 1, ramp)])
    return LinearProgram(
        matrix,
        AffineRows(lower, still),
        AffineRows(upper, still),
        np.zeros(hours),
        np.ones(hours),
        n_decisions=hours,
    )
