"""The smallest example: a decision that switches at one price."""

from __future__ import annotations

import numpy as np

from feaslearn.costs import AffineCost
from feaslearn.data import Decisions, Names
from feaslearn.datasets._arguments import RandomState, check_common, check_room, uniform
from feaslearn.exceptions import DataError, Problems
from feaslearn.problem import AffineRows, LinearProgram


def make_switch(
    n_samples: int,
    noise: float = 0.0,
    random_state: RandomState = None,
    *,
    signal_noise: float = 0.0,
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
    signal_noise : float, default 0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.

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
    draw = check_common(problems, n_samples, noise, signal_noise, random_state)
    problems.raise_if_any(DataError, "make_switch")
    check_room("make_switch", n_samples, 3)
    signals = uniform(draw.streams.signals, n_samples, [(0.0, 1.0)])
    first = signals[:, 0] <= 0.5
    decisions = np.column_stack([first, ~first]).astype(np.float64)
    total = AffineRows([1.0], [[0.0]])
    cost = AffineCost([0.0, 1.0], [[1.0], [-1.0]])
    program = LinearProgram([[1.0, 1.0]], total, total, [0.0, 0.0], [2.0, 2.0], 2)
    return draw.observed(signals, decisions, cost, Names(("s",), ("x_1", "x_2")), program)
