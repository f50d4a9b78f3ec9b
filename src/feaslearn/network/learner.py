"""The lines of a network, learned from dispatches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Mask
from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import did_you_mean
from feaslearn.network.candidates import CandidateLines, Line, Networks
from feaslearn.network.cuts import CutSearch
from feaslearn.network.enumeration import check_enumerable
from feaslearn.network.estimator import NetworkEstimator
from feaslearn.network.identify import (
    Identification,
    LineCurve,
    NextSignal,
    best_signal,
    draw_signals,
    identify,
    line_curve,
)
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.search import no_limits
from feaslearn.network.solve import (
    LineSearch,
    Search,
    Solver,
    general_search,
    line_frequencies,
    solve,
    training_result,
)
from feaslearn.parameters import Integer, check_value
from feaslearn.runs import Clock
from feaslearn.trainers.trainer import MAX_SECONDS

Prefer = Literal["sparsest", "any"]


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkLearner(NetworkEstimator):
    r"""Learns which lines a network has, and which of them the data can tell.

    .. math::
        \min_{y \in \{0,1\}^L} \Big( \frac1N \sum_i \ell(x_i; y, s_i),\; \sum_l y_l \Big)
        \quad\text{(loss first, then lines)}

    where ``l`` compares a dispatch with the cheapest one that the lines y allow,
    ``min { c'u : E u = B z + d, |z_l| <= f_l y_l, 0 <= u <= C }``. Plants, demands and capacities
    are known. Many networks may fit equally well: `identify` says which lines all of them share.

    Parameters
    ----------
    nodes : int or sequence
        How many nodes there are (then they are called 1, 2, ...), or their labels.
    generators : sequence
        The node of each plant.
    generator_capacity : float or array_like of shape (n_generators,)
        The most each plant delivers.
    line_capacity : float or array_like of shape (n_candidate_lines,)
        The most each candidate line carries.
    cost : cost specification
        How the price of each plant is read from the signals.
    demand : sequence of int or str
        The signal that holds the demand of each node.
    candidate_lines : sequence of pairs, optional
        The lines there may be; by default one between any two nodes.
    known_lines, forbidden_lines : sequence of pairs
        Lines that are there for certain, and lines that are not.
    loss : {"predictability", "suboptimality"} or a loss
        The names stand for the l1 norm; give ``Predictability()`` for the squared l2 norm.
    prefer : {"sparsest", "any"}
        Which of the networks of least loss to return.
    solver : {"auto", "milp", "enumeration"}
        "milp" is the integer program over flows; "enumeration" looks at all networks; "auto" first
        asks for a network of zero loss by its cuts, and then takes whichever of the two suits.
    lazy : bool
        Whether "milp" adds samples as they are needed rather than all at once.
    max_seconds : float, optional
        The time a fit may take, and each question after it; what is found by then is returned with
        what is proved of it.

    Attributes
    ----------
    lines_ : list of pairs
        The lines of the network.
    network_ : ndarray of bool, shape (L,)
        The same, over ``candidate_lines_``.
    loss_ : float
        Its mean loss, measured exactly on all samples.
    bound_ : float
        No network has a smaller mean loss.
    result_ : TrainingResult
        Status, bounds, time.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, section 5.2.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(n_samples=100, random_state=0)
    >>> plants = {"generators": [1, 3, 5], "generator_capacity": 3.5, "line_capacity": 3.5}
    >>> learner = fl.NetworkLearner(5, **plants, cost=[0, 1, 2], demand=range(3, 8))
    >>> learner = learner.fit(data.signals, data.decisions)
    >>> learner.result_.status, len(learner.lines_)
    ('optimal', 4)
    >>> learner.identify().n_networks
    (644, 644)
    """

    prefer: Prefer = "sparsest"
    solver: Solver = "auto"
    lazy: bool = True
    max_seconds: float | None = None

    _search: LineSearch = field(init=False)
    _losses: NetworkLosses = field(init=False)

    def identify(self, among: Literal["best", "sparsest"] = "best") -> Identification:
        """Say which lines are certain, impossible or undetermined.

        Parameters
        ----------
        among : {"best", "sparsest"}
            Over all networks of least loss, or over those with no more lines than ``lines_``.

        Returns
        -------
        Identification
            The classes of the lines and the number of equivalent networks.
        """
        self._check_fitted()
        if among not in ("best", "sparsest"):
            raise DataError(f"among is {among!r}, expected 'best' or 'sparsest'")
        limits = no_limits(self._candidates)
        if among == "sparsest":
            limits = limits._replace(most_lines=int(self.network_.sum()))
        return identify(
            self._search,
            self._candidates,
            self.network_,
            self.loss_,
            limits,
            self._explains,
            self._most_counted(),
            Clock(self.max_seconds),
        )

    def next_signal(
        self,
        signals: ArrayLike | None = None,
        *,
        identification: Identification | None = None,
        n_draws: int = 200,
        widen: float = 1.0,
        random_state: int = 0,
    ) -> NextSignal:
        """Return the signal whose answer would best separate the networks that remain.

        Parameters
        ----------
        signals : array_like of shape (M, n_signals), optional
            The signals to choose from; by default draws like the training signals, half of them
            with every column at an extreme.
        identification : Identification, optional
            What `identify` said, to save asking again.
        n_draws : int
            How many signals to draw if none are given.
        widen : float
            The range of each drawn column, from its least value on, in units of the range seen:
            signals like those seen may not tell apart networks that agree on them.
        random_state : int
            The seed of the draws.

        Returns
        -------
        NextSignal
            The signal, and how many networks its answer is expected to leave.
        """
        self._check_fitted()
        known = self.identify() if identification is None else identification
        if signals is None:
            table = draw_signals(self._signals, n_draws, widen, random_state)
        else:
            read = as_matrix(signals, name="signals", problems=Problems())
            table = np.empty((0, 0)) if read is None else read
        costs, demands = self._read(table)
        return best_signal(self._candidates, known.networks, table, costs, demands)

    def loss_curve(self) -> LineCurve:
        """Return the least loss with at most k lines, for every k.

        Returns
        -------
        LineCurve
            The curve; its elbow says how many lines the data speak for.
        """
        self._check_fitted()
        clock = Clock(self.max_seconds)
        return line_curve(self._general(clock), no_limits(self._candidates), clock)

    def bootstrap(self, n: int = 100, random_state: int | None = None) -> dict[Line, float]:
        """Return how often each line is learned from samples drawn again with replacement.

        Parameters
        ----------
        n : int
            How many times to draw.
        random_state : int, optional
            The seed of the draws.

        Returns
        -------
        dict of line to float
            The share of draws whose sparsest best network has the line; where there are several
            such networks and all are known, their mean.
        """
        self._check_fitted()
        problems = Problems()
        check_value("n", n, Integer(1), problems)
        problems.raise_if_any(DataError, "NetworkLearner.bootstrap")
        generator = np.random.default_rng(random_state)
        clock = Clock(self.max_seconds)
        search = self._general(clock)
        shares = line_frequencies(search, n, generator, self.solver, self.lazy, clock)
        return dict(zip(self._candidates.lines, shares.tolist(), strict=True))

    def _check(self, problems: Problems, candidates: CandidateLines | None) -> None:
        for name, value, choices in (
            ("prefer", self.prefer, get_args(Prefer)),
            ("solver", self.solver, get_args(Solver)),
        ):
            if value not in choices:
                problems.add(f"{name} is {value!r}; {did_you_mean(str(value), choices)}")
        check_value("max_seconds", self.max_seconds, MAX_SECONDS, problems)
        if self.solver == "enumeration" and candidates is not None:
            check_enumerable(problems, candidates)

    def _learn(self, losses: NetworkLosses) -> None:
        # Measured once before the clock starts, so that no time limit counts compilation.
        losses.nearest(np.ones(len(losses.candidates.lines), dtype=np.bool_))
        clock = Clock(self.max_seconds)
        solved = solve(losses, self.solver, self.lazy, self.prefer == "sparsest", clock)
        self._losses, self._search = losses, solved.search
        self.network_ = solved.network
        self.loss_, self.bound_ = solved.loss, min(solved.loss, solved.loss_bound)
        self.result_ = training_result(repr(self), losses, solved, clock)

    def _general(self, clock: Clock) -> Search:
        """Return a search for any loss, which the fit did not need if zero loss was possible."""
        if isinstance(self._search, CutSearch):
            return general_search(self._losses, self.solver, self.lazy, clock)
        return self._search

    def _explains(self, networks: Networks) -> Mask:
        """Return which networks have no more than the least loss."""
        if isinstance(self._search, CutSearch):
            return self._search.explains(networks)
        return np.asarray(self._losses.means(networks) <= self.loss_ + self._losses.tolerance)

    def _most_counted(self) -> float:
        """Return how many networks can be tried one by one in about two minutes."""
        if isinstance(self._search, CutSearch):
            return min(2.0**20, 2.0**33 / len(self._candidates.members))
        return 2.0**34 / (self._candidates.outside_capacity.size * self._losses.n_samples)
