"""Search among the networks that explain every sample, by their cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.network.candidates import Networks
from feaslearn.network.cuts import TightCuts, common_capacity
from feaslearn.network.enumerated_network import equality_tolerance
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.search import FloatArray, Found, Limits, NetworkProgram, all_but
from feaslearn.runs import Clock
from feaslearn.tolerances import ACCEPT_TOL, CAPACITY_TOL

#: Rows that are there from the start, and rows that are added at once.
FIRST_ROWS, ROWS_ADDED = 8192, 100

#: Entries of cuts that are held at once.
ENTRIES_AT_ONCE = 2**22


class CutSearch:
    r"""The networks of zero loss: binaries for lines and for sets of nodes whose cut is tight.

    .. math::
        f(\delta_y T) \ge r_T \;\; \forall T, \qquad
        f(\delta_y T) \le r_T + M (1 - t_T), \qquad \sum_{T \in \text{clause}} t_T \ge 1

    No variable belongs to a sample, so the number of samples does not matter. Rows are added when
    a network breaks them.
    """

    def __init__(self, losses: NetworkLosses, cuts: TightCuts) -> None:
        self.losses = losses
        self.n_solves = 0
        candidates = losses.candidates
        self._n_lines = len(candidates.lines)
        unit = common_capacity(candidates)
        self._capacity = np.ones(self._n_lines) if unit else candidates.line_capacity
        # Lines of one capacity are counted, which rounds what is needed up.
        self._least = cuts.needs - cuts.tolerance
        self._most = cuts.needs + cuts.tolerance
        if unit:
            self._least = np.ceil(self._least / unit)
            self._most = np.floor(self._most / unit)
        self._crossing = candidates.crossing[: len(cuts.needs)]
        self._clauses = cuts.clauses
        tight = sorted({T for clause in cuts.clauses for T in clause})
        self.program = NetworkProgram(self._n_lines + len(tight))
        self._added = np.zeros(len(cuts.needs), dtype=bool)
        self._add_clauses(cuts, tight)
        self._add_needs(self._first_rows(tight))
        if (self._least[1:] > 0).all():
            self._add_connected()

    def cheapest(
        self, weights: FloatArray, most_loss: float, limits: Limits, clock: Clock
    ) -> Found:
        """Return the network of zero loss with the least ``weights @ y``."""
        cost = np.zeros(self.program.n_binary)
        cost[: self._n_lines] = weights
        fixed = np.full(self.program.n_binary, -1, dtype=np.int8)
        fixed[: self._n_lines] = limits.fixed
        tolerance = equality_tolerance(self.losses)
        whole = bool((weights == np.rint(weights)).all())
        bound = -np.inf
        while True:
            self.n_solves += 1
            answer = self.program.best(cost, fixed, limits.rows(), clock.left)
            bound = max(bound, np.ceil(answer.bound - ACCEPT_TOL) if whole else answer.bound)
            if answer.values is None:
                return Found(answer.outcome, None, np.inf, bound)
            network = np.asarray(answer.values[: self._n_lines] > 0.5)
            violated = self._violated(network)
            if len(violated):
                self._add_needs(violated)
            elif self.losses.nearest(network)[0].mean() <= tolerance:
                return Found(answer.outcome, network, float(weights @ network), bound)
            else:
                # At the edge of the tolerances; what is measured decides.
                self.program.extend(all_but(network))

    def _violated(self, network: NDArray[np.bool_]) -> NDArray[np.intp]:
        short = self._least - self._crossing @ (network * self._capacity)
        short[self._added] = 0.0
        violated = np.flatnonzero(short > CAPACITY_TOL)
        return violated[np.argsort(-short[violated], kind="stable")][:ROWS_ADDED]

    def explains(self, networks: Networks) -> NDArray[np.bool_]:
        """Say which networks have zero loss, by all of their cuts."""
        fine = np.zeros(len(networks), dtype=bool)
        step = max(1, ENTRIES_AT_ONCE // len(self._least))
        for start in range(0, len(networks), step):
            some = networks[start : start + step] * self._capacity
            cuts = some @ self._crossing.T
            enough = (cuts >= self._least - CAPACITY_TOL).all(axis=1)
            for clause in self._clauses:
                sets = sorted(clause)
                enough &= (cuts[:, sets] <= self._most[sets] + CAPACITY_TOL).any(axis=1)
            fine[start : start + step] = enough
        return fine

    def _first_rows(self, tight: list[int]) -> NDArray[np.intp]:
        """The sets whose cut a clause limits, and those that need the most."""
        asked = np.flatnonzero(self._least > 0)
        most = asked[np.argsort(-self._least[asked], kind="stable")][:FIRST_ROWS]
        return np.union1d(np.array(tight, dtype=np.intp), most)

    def _add_needs(self, sets: NDArray[np.intp]) -> None:
        sets = sets[~self._added[sets]]
        if not len(sets):
            return
        self._added[sets] = True
        matrix = self._crossing[sets] * self._capacity
        self.program.matrix_rows(matrix, self._least[sets], np.inf)

    def _add_clauses(self, cuts: TightCuts, tight: list[int]) -> None:
        if not tight:
            return
        place = {T: self._n_lines + position for position, T in enumerate(tight)}
        for T in tight:
            lines = np.flatnonzero(self._crossing[T])
            most = self._capacity[lines].sum()
            slack = max(0.0, most - self._most[T])
            self.program.row([(lines, self._capacity[lines]), (place[T], slack)], upper=most)
        for clause in cuts.clauses:
            self.program.row([(np.array([place[T] for T in sorted(clause)]), 1.0)], lower=1.0)

    def _add_connected(self) -> None:
        """Where every set needs a line out of it, the lines join all nodes."""
        joined = float(len(self.losses.candidates.nodes) - 1)
        self.program.matrix_rows(np.ones((1, self._n_lines)), joined, np.inf)
