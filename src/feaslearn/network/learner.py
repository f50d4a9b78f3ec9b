"""The lines of a network, learned from dispatches."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.costs import CostSpecification
from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems, TimeLimitError
from feaslearn.losses.loss import Loss
from feaslearn.messages import did_you_mean
from feaslearn.network.candidates import CandidateLines, Line, Networks, Node
from feaslearn.network.cut_search import CutSearch
from feaslearn.network.enumerated_network import (
    NetworkEstimator,
    check_enumerable,
    equality_tolerance,
    mean_losses,
)
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
from feaslearn.network.search import EnumerationSearch, FloatArray, LineSearch, Search, no_limits
from feaslearn.network.solve import Solver, general_search, solve, training_result
from feaslearn.parameters import Integer, check_value
from feaslearn.runs import Clock
from feaslearn.runs.progress import ProgressBar
from feaslearn.trainers.running import MAX_SECONDS

Prefer = Literal["sparsest", "any"]


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

    def __init__(
        self,
        nodes: int | Sequence[Node],
        generators: Sequence[Node],
        *,
        generator_capacity: ArrayLike,
        line_capacity: ArrayLike,
        cost: CostSpecification,
        demand: Sequence[int | str],
        candidate_lines: Sequence[Line] | None = None,
        known_lines: Sequence[Line] = (),
        forbidden_lines: Sequence[Line] = (),
        loss: str | Loss = "predictability",
        prefer: Prefer = "sparsest",
        solver: Solver = "auto",
        lazy: bool = True,
        max_seconds: float | None = None,
    ) -> None:
        super().__init__(
            nodes,
            generators,
            generator_capacity=generator_capacity,
            line_capacity=line_capacity,
            cost=cost,
            demand=demand,
            candidate_lines=candidate_lines,
            known_lines=known_lines,
            forbidden_lines=forbidden_lines,
            loss=loss,
        )
        self.prefer = prefer
        self.solver = solver
        self.lazy = lazy
        self.max_seconds = max_seconds

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

    _search: LineSearch
    _losses: NetworkLosses

    def _check_parameters(self, problems: Problems) -> None:
        for name, value, choices in (
            ("prefer", self.prefer, get_args(Prefer)),
            ("solver", self.solver, get_args(Solver)),
        ):
            if value not in choices:
                problems.add(f"{name} is {value!r}; {did_you_mean(str(value), choices)}")
        check_value("max_seconds", self.max_seconds, MAX_SECONDS, problems)

    def _check_size(self, problems: Problems, candidates: CandidateLines) -> None:
        if self.solver == "enumeration":
            check_enumerable(problems, candidates)

    def _learn(self, losses: NetworkLosses) -> None:
        losses.compile()
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
        return cast(Search, self._search)

    def _explains(self, networks: Networks) -> NDArray[np.bool_]:
        if isinstance(self._search, CutSearch):
            return self._search.explains(networks)
        means = mean_losses(self._losses, networks)
        return np.asarray(means <= self.loss_ + equality_tolerance(self._losses))

    def _most_counted(self) -> float:
        """Return how many networks can be tried one by one in about a minute, or two."""
        if isinstance(self._search, CutSearch):
            return min(2.0**20, 2.0**33 / len(self._candidates.members))
        return 2.0**34 / (self._candidates.beyond.size * self._losses.n_samples)


# How often a line is learned when the samples are drawn again.


def line_frequencies(
    search: Search,
    n_draws: int,
    generator: np.random.Generator,
    solver: Solver,
    lazy: bool,
    clock: Clock,
) -> FloatArray:
    """Return the share of draws in which each line is learned.

    Parameters
    ----------
    search : Search
        The search over all samples; one that enumerates has measured all that is needed.
    n_draws : int
        How many times to draw.
    generator : Generator
        Where the randomness comes from.
    solver : {"auto", "milp", "enumeration"}
        How the network of a draw is found otherwise.
    lazy : bool
        Whether samples are added to the integer program as they are needed.
    clock : Clock
        The time for all draws: those that it does not suffice for do not count, with a warning.

    Returns
    -------
    ndarray of shape (L,)
        The shares.
    """
    losses = search.losses
    total = np.zeros(len(losses.candidates.lines))
    with ProgressBar("bootstrap", n_draws) as bar:
        for draw in range(n_draws):
            rows = generator.integers(losses.n_samples, size=losses.n_samples)
            if isinstance(search, EnumerationSearch):
                total += _from_table(search, rows)
            else:
                drawn = NetworkLosses(losses.candidates, losses.samples.rows(rows), losses.loss)
                found = solve(drawn, solver, lazy, True, clock)
                if clock.out():
                    return _shares(total, draw, n_draws)
                total += found.network
            bar.update(draw + 1)
    return _shares(total, n_draws, n_draws)


def _shares(total: FloatArray, done: int, asked: int) -> FloatArray:
    """Return the shares of the draws there was time for."""
    if not done:
        raise TimeLimitError("bootstrap: max_seconds was over before the first draw was solved")
    if done < asked:
        text = f"bootstrap: there was time for {done} of {asked} draws"
        warnings.warn(text, FeaslearnWarning, stacklevel=4)
    return total / done


def _from_table(search: EnumerationSearch, rows: NDArray[np.int64]) -> FloatArray:
    counts = np.bincount(rows, minlength=search.table.shape[1]) / len(rows)
    drawn = counts > 0
    means = search.table[:, drawn] @ counts[drawn]
    best = search.networks[means <= means.min() + search.tolerance]
    sizes = best.sum(axis=1)
    return np.asarray(best[sizes == sizes.min()].mean(axis=0))
