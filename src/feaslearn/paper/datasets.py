r"""The data sets of the paper, each with the problem that its decisions solve.

Example 1 (`make_switch`), the bilinear experiments (`make_l1_ball`, `make_ellipsoid`), the power
system of section 5.2 (`make_power5`) and the IEEE test system of the appendix (`make_ieee14`).

A seed gives the same signals, and the same decisions before noise, whatever the noise. The figure
of the power system's topology is missing in the paper: the ring 1-2-3-4-5-1 is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.paper.network.transport import Line, TransportNetwork
from feaslearn.paper.problem import Data
from feaslearn.paper.regions import Affine, Scaled
from feaslearn.paper.truth import KnownRegion, Truth
from feaslearn.sets import L1Ball, L2Ball, Simplex

__all__ = [
    "TransportNetwork",
    "make_ellipsoid",
    "make_ieee14",
    "make_l1_ball",
    "make_power5",
    "make_switch",
]

Ranges = list[tuple[float, float]]

PLANTS = (1, 3, 5)
RING = ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1))
#: Prices of plants, and demands of nodes, are uniform on these ranges.
PRICES: Ranges = [(0.2, 1.0), (0.2, 0.5), (1.0, 2.0)]
DEMANDS: Ranges = [(0.3, 1.5), (0.36, 1.8), (0.42, 2.1), (0.48, 2.4), (0.54, 2.7)]
CAPACITY = 3.5

IEEE_PLANTS = (2, 8, 13)
# fmt: off
IEEE_LINES = (
    (1, 2), (1, 5), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5), (4, 7), (4, 9), (5, 6),
    (6, 11), (6, 12), (6, 13), (7, 8), (7, 9), (9, 10), (9, 14), (10, 11), (12, 13), (13, 14),
)
IEEE_PRICES: Ranges = [(0.2, 0.5), (1.0, 2.0), (0.2, 1.0)]
IEEE_DEMANDS: Ranges = [
    (0.14, 0.7), (0.14, 0.7), (0.16, 0.8), (0.16, 0.8), (0.14, 0.7), (0.1, 0.5), (0.16, 0.8),
    (0.54, 2.7), (0.1, 0.2), (0.12, 0.6), (0.12, 0.6), (0.1, 0.5), (0.1, 0.5), (0.12, 0.6),
]
# fmt: on
IEEE_GENERATOR_CAPACITY, IEEE_LINE_CAPACITY = 3.6, 3.0


class _Streams:
    """Independent generators, so that noise can be turned on without changing anything else."""

    def __init__(
        self, n_samples: int, noise: float, signal_noise: float, random_state: int | None
    ) -> None:
        if n_samples < 1 or not (noise >= 0.0 and signal_noise >= 0.0):
            raise DataError(
                f"n_samples={n_samples}, noise={noise}, signal_noise={signal_noise}: data need a "
                "sample, and noise is not negative"
            )
        self.size, self.deviations = n_samples, (signal_noise, noise)
        self.structure, self.signals, *rest = (
            np.random.default_rng(child) for child in np.random.SeedSequence(random_state).spawn(4)
        )
        self.decision_noise, self.signal_noise = rest

    def uniform(self, ranges: Ranges) -> Array:
        """Draw columns that are uniform, each on its range."""
        low, high = np.array(ranges).T
        return self.signals.uniform(low, high, size=(self.size, len(low)))

    def observed(self, signals: Array, costs: Array, truth: Truth) -> tuple[Array, Array]:
        """Solve the true problem; return signals and decisions with noise."""
        decisions = truth.solve(signals, costs)
        on_signals, on_decisions = self.deviations
        if on_signals:
            signals = signals + on_signals * self.signal_noise.standard_normal(signals.shape)
        if on_decisions:
            shape = decisions.shape
            decisions = decisions + on_decisions * self.decision_noise.standard_normal(shape)
        return signals, decisions


def make_switch(
    n_samples: int,
    noise: float = 0.0,
    random_state: int | None = None,
    *,
    signal_noise: float = 0.0,
) -> Data:
    """Make Example 1: decisions that switch from one unit of the first good to one of the second.

    ``min { s x_1 + (1 - s) x_2 : x_1 + x_2 = 1, 0 <= x <= 2 }``, s uniform on [0, 1]; the region is
    the simplex.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default=0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, default=None
        The seed.
    signal_noise : float, default=0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.

    Returns
    -------
    Data
        Signal s, which enters the cost; decisions x_1 and x_2.

    Examples
    --------
    >>> from feaslearn.paper.datasets import make_switch
    >>> data = make_switch(100, random_state=0)
    >>> bool((data.decisions[:, 0] == (data.signals[:, 0] < 0.5)).all())
    True
    """
    streams = _Streams(n_samples, noise, signal_noise, random_state)
    s = streams.uniform([(0.0, 1.0)])
    truth = KnownRegion(Affine(Simplex(2)), np.eye(2).ravel(), constant)
    signals, decisions = streams.observed(s, np.hstack([s, 1.0 - s]), truth)
    return Data(signals, decisions, np.hstack([signals, 1.0 - signals]), (0,), truth)


def make_l1_ball(
    n_samples: int,
    n: int = 5,
    radius: float = 1.0,
    noise: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
    random_state: int | None = None,
    *,
    signal_noise: float = 0.0,
) -> Data:
    """Make decisions of least cost in a ball of the l1 norm.

    ``min { c'x : ||x - e||_1 <= radius }`` with e = (1, ..., 1).

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    n : int, default=5
        How many entries a decision has.
    radius : float, default=1.0
        The radius of the ball.
    noise : float, default=0.0
        The standard deviation of Gaussian noise on the decisions.
    low, high : float, default=0.0 and 1.0
        The range of the costs, which are uniform and are the signals.
    random_state : int, default=None
        The seed.
    signal_noise : float, default=0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.

    Returns
    -------
    Data
        The costs as signals, and the decisions.

    Examples
    --------
    >>> from feaslearn.paper.datasets import make_l1_ball
    >>> data = make_l1_ball(3, n=2, low=-1.0, random_state=0)
    >>> abs(data.decisions - 1.0).sum(axis=1)
    array([1., 1., 1.])
    """
    streams = _Streams(n_samples, noise, signal_noise, random_state)
    costs = streams.uniform([(low, high)] * n)
    truth = KnownRegion(Scaled(L1Ball(n)), np.array([radius, *np.ones(n)]), constant)
    signals, decisions = streams.observed(costs, costs, truth)
    return Data(signals, decisions, signals, range(n), truth)


def make_ellipsoid(
    n_samples: int,
    n: int = 2,
    noise: float = 0.0,
    random_state: int | None = None,
    *,
    signal_noise: float = 0.0,
) -> Data:
    """Make decisions of least cost in an ellipsoid.

    ``min { c'x : x = M z + e, ||z||_2 <= 1 }``, every entry of c a standard normal, M symmetric
    with half-axes between 0.5 and 2 in random directions.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    n : int, default=2
        How many entries a decision has.
    noise : float, default=0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, default=None
        The seed.
    signal_noise : float, default=0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.

    Returns
    -------
    Data
        The costs as signals, and the decisions; M and e are the parameters of ``truth``.

    Examples
    --------
    >>> from feaslearn.paper.datasets import make_ellipsoid
    >>> data = make_ellipsoid(3, random_state=0)
    >>> M, center = data.truth.theta[:4].reshape(2, 2), data.truth.theta[4:]
    >>> (np.linalg.solve(M, (data.decisions - center).T) ** 2).sum(axis=0).round(12)
    array([1., 1., 1.])
    """
    streams = _Streams(n_samples, noise, signal_noise, random_state)
    directions, _ = np.linalg.qr(streams.structure.standard_normal((n, n)))
    half_axes = streams.structure.uniform(0.5, 2.0, size=n)
    M = (directions * half_axes) @ directions.T
    costs = streams.signals.standard_normal((n_samples, n))
    truth = KnownRegion(Affine(L2Ball(n)), np.append(M.ravel(), np.ones(n)), constant)
    signals, decisions = streams.observed(costs, costs, truth)
    return Data(signals, decisions, signals, range(n), truth)


def make_power5(
    n_samples: int,
    noise: float = 0.0,
    random_state: int | None = None,
    *,
    signal_noise: float = 0.0,
    lines: Sequence[Line] = RING,
    line_capacity: ArrayLike = CAPACITY,
) -> Data:
    """Make cheapest dispatches of three plants that serve five regions.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default=0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, default=None
        The seed.
    signal_noise : float, default=0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.
    lines : sequence of (int, int), optional
        The lines between regions 1 to 5; by default the ring 1-2-3-4-5-1.
    line_capacity : float or array_like, default=3.5
        The most a line carries, for all lines or for each.

    Returns
    -------
    Data
        Prices of plants 1, 3 and 5 and demands of regions 1 to 5 as signals; what each plant
        delivers as decisions; the `TransportNetwork` as ``truth``.

    Examples
    --------
    >>> from feaslearn.paper.datasets import make_power5
    >>> data = make_power5(4, random_state=0)
    >>> bool((data.truth.solve(data.signals, data.costs) == data.decisions).all())
    True
    """
    streams = _Streams(n_samples, noise, signal_noise, random_state)
    network = TransportNetwork(5, lines, line_capacity, PLANTS, CAPACITY)
    return _dispatches(streams, network, PRICES, DEMANDS)


def make_ieee14(
    n_samples: int,
    noise: float = 0.0,
    random_state: int | None = None,
    *,
    signal_noise: float = 0.0,
    line_capacity: ArrayLike = IEEE_LINE_CAPACITY,
) -> Data:
    """Make cheapest dispatches of three plants in the IEEE 14-node network.

    Parameters
    ----------
    n_samples : int
        How many decisions to make.
    noise : float, default=0.0
        The standard deviation of Gaussian noise on the decisions.
    random_state : int, default=None
        The seed.
    signal_noise : float, default=0.0
        The standard deviation of Gaussian noise on the signals as they are observed; the decisions
        answer to the true ones.
    line_capacity : float or array_like, default=3.0
        The most a line carries, for all lines or for each.

    Returns
    -------
    Data
        Prices of the plants at nodes 2, 8 and 13 and demands of nodes 1 to 14 as signals; what each
        plant delivers as decisions; the `TransportNetwork` as ``truth``.

    Examples
    --------
    >>> from feaslearn.paper.datasets import make_ieee14
    >>> make_ieee14(4, random_state=0).signals.shape
    (4, 17)
    """
    streams = _Streams(n_samples, noise, signal_noise, random_state)
    network = TransportNetwork(14, IEEE_LINES, line_capacity, IEEE_PLANTS, IEEE_GENERATOR_CAPACITY)
    return _dispatches(streams, network, IEEE_PRICES, IEEE_DEMANDS)


def _dispatches(
    streams: _Streams, network: TransportNetwork, prices: Ranges, demands: Ranges
) -> Data:
    drawn, n = streams.uniform([*prices, *demands]), len(prices)
    signals, decisions = streams.observed(drawn, drawn[:, :n], network)
    return Data(signals, decisions, signals[:, :n], range(n), network)


def constant(signals: Array) -> Array:
    """Return the features of a region that does not depend on the signal: one, always."""
    return np.ones((len(signals), 1))
