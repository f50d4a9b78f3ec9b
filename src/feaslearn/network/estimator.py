"""The base of what learns the lines of a network: arguments, data, predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array, Mask
from feaslearn.costs import CostSpecification
from feaslearn.data import as_matrix
from feaslearn.exceptions import DataError, NotFittedError, Problems, checked
from feaslearn.losses.loss import Loss
from feaslearn.network.candidates import CandidateLines, Line, Node, read_candidates
from feaslearn.network.losses import NetworkLosses, resolve_network_loss
from feaslearn.network.samples import (
    NetworkSignals,
    dispatch_of,
    read_samples,
    resolve_signals,
)
from feaslearn.runs import ended_by_user, whole_or_not
from feaslearn.solvers.highs import name_rows


@dataclass(eq=False, repr=False)
class NetworkEstimator(BaseEstimator):
    """Learns which candidate lines a network has; a child says how, in `_learn`."""

    nodes: int | Sequence[Node]
    generators: Sequence[Node]
    _: KW_ONLY
    generator_capacity: ArrayLike
    line_capacity: ArrayLike
    cost: CostSpecification
    demand: Sequence[int | str]
    candidate_lines: Sequence[Line] | None = None
    known_lines: Sequence[Line] = ()
    forbidden_lines: Sequence[Line] = ()
    loss: str | Loss = "predictability"

    network_: Mask = field(init=False)
    _candidates: CandidateLines = field(init=False)
    _reader: NetworkSignals = field(init=False)
    _signals: Array = field(init=False)

    def fit(self, signals: ArrayLike, decisions: ArrayLike) -> Self:
        """Learn the lines.

        Parameters
        ----------
        signals : array_like or frame of shape (N, n_signals)
            The signals, with the prices and the demands among them.
        decisions : array_like or frame of shape (N, n_generators)
            What each plant delivered.

        Returns
        -------
        self
            The learner.
        """
        problems = Problems()
        candidates = read_candidates(
            problems,
            self.nodes,
            self.generators,
            self.generator_capacity,
            self.line_capacity,
            self.candidate_lines,
            self.known_lines,
            self.forbidden_lines,
        )
        loss = resolve_network_loss(problems, self.loss)
        self._check(problems, candidates)
        reader = resolve_signals(problems, candidates, signals, self.cost, self.demand)
        samples = read_samples(problems, candidates, reader, signals, decisions)
        owner = type(self).__name__
        candidates = checked(candidates, problems, owner)
        losses = NetworkLosses(
            candidates, checked(samples, problems, owner), checked(loss, problems, owner)
        )
        with whole_or_not(self), ended_by_user():
            self._candidates, self._reader = candidates, checked(reader, problems, owner)
            self._signals = np.array(as_matrix(signals, name="signals", problems=problems))
            self.n_features_in_ = self._reader.cost.n_signals
            self._learn(losses)
        return self

    def predict(self, signals: ArrayLike, costs: ArrayLike | None = None) -> Array:
        """Return the cheapest dispatch that the learned network allows.

        Parameters
        ----------
        signals : array_like or frame of shape (N, n_signals)
            The signals.
        costs : array_like of shape (N, n_generators), optional
            Prices to use in place of those among the signals.

        Returns
        -------
        ndarray of shape (N, n_generators)
            What each plant delivers.
        """
        prices, demands = self._read(signals)
        if costs is not None:
            given = np.ascontiguousarray(costs, dtype=np.float64)
            if given.shape != prices.shape or not np.isfinite(given).all():
                raise DataError(
                    f"{type(self).__name__}: costs has shape {given.shape}, expected finite "
                    f"numbers of shape {prices.shape}"
                )
            prices = given
        dispatch = dispatch_of(self._candidates, self.network_, demands, prices)
        unserved = np.flatnonzero(np.isnan(dispatch[:, 0]))
        if len(unserved):
            raise DataError(
                f"{type(self).__name__}: the learned network cannot serve the demand of "
                f"{name_rows(unserved)}; fit on samples with demands as high as these"
            )
        return dispatch

    @property
    def lines_(self) -> list[Line]:
        """The lines of the learned network."""
        self._check_fitted()
        return self._candidates.named(self.network_)

    @property
    def nodes_(self) -> list[Node]:
        """The labels of the nodes."""
        self._check_fitted()
        return list(self._candidates.nodes)

    @property
    def candidate_lines_(self) -> list[Line]:
        """The candidate lines, in the order of ``network_``, without the forbidden ones."""
        self._check_fitted()
        return list(self._candidates.lines)

    @abstractmethod
    def _learn(self, losses: NetworkLosses) -> None:
        """Set ``network_`` and what else was learned."""

    @abstractmethod
    def _check(self, problems: Problems, candidates: CandidateLines | None) -> None:
        """Add what is wrong with the parameters of a child, and too many candidates for it."""

    def _read(self, signals: ArrayLike) -> tuple[Array, Array]:
        """Return prices and demands."""
        self._check_fitted()
        problems = Problems()
        return checked(self._reader.read(problems, signals), problems, type(self).__name__)

    def _check_fitted(self) -> None:
        """Refuse a learner that is not fitted."""
        if not hasattr(self, "network_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted yet; call fit first")
