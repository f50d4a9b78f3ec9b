"""Pairs of a signal and a decision."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array
from feaslearn.costs import CostSpecification
from feaslearn.data.checks import Checked, GivenNames, Names, check_arrays
from feaslearn.data.matrix import column_names
from feaslearn.exceptions import DataError, Problems


class Solves(Protocol):
    """The least that a forward problem can do."""

    def solve(self, signals: Array, costs: Array) -> Array:
        """Return an optimal decision for every sample."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    r"""Signals, the decisions taken under them, and how the cost is read from the signals.

    Row i says that the decision maker saw :math:`s_i` and chose

    .. math:: x_i \in \operatorname{argmin}_{x \in R(s_i)} c(s_i)^\top x .

    Make one with `from_arrays`, which checks everything. The arrays are read-only.
    An index chooses samples: ``data[:100]``, ``data[mask]``, ``data[[4, 2]]``, ``data[0]``.

    Parameters
    ----------
    signals : array of shape (N, K)
        The signals s, finite.
    decisions : array of shape (N, n)
        The decisions x; NaN means unobserved.
    cost : cost specification
        What was given, with names turned into positions.
    cost_matrix : array of shape (N, n)
        The costs c(s).
    names : Names
        The names of the signals and of the decisions.
    forward : forward problem, optional
        The true problem, where it is known.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, section 2.

    Examples
    --------
    >>> from feaslearn import Decisions
    >>> signals = [[0.3, 0.7, 2.0], [0.6, 0.4, 3.0]]
    >>> data = Decisions.from_arrays(signals, [[2, 0], [0, 3]], cost=[0, 1])
    >>> data
    Decisions(2 samples, 3 signals, 2 decisions, cost=[0, 1])
    >>> data.cost_matrix.tolist()
    [[0.3, 0.7], [0.6, 0.4]]
    >>> len(data[:1])
    1
    """

    signals: Array
    decisions: Array
    cost: CostSpecification
    cost_matrix: Array
    names: Names
    forward: Solves | None = None

    # An index out of range would otherwise end a loop in silence.
    __iter__: ClassVar[None] = None

    @classmethod
    def from_arrays(
        cls,
        signals: object,
        decisions: object,
        cost: CostSpecification,
        *,
        names: Names | tuple[Sequence[str], Sequence[str]] | None = None,
        forward: Solves | None = None,
    ) -> Self:
        """Check arrays, lists or frames and put them together.

        Parameters
        ----------
        signals : array-like of shape (N, K)
            The signals: finite numbers.
        decisions : array-like of shape (N, n) or (N,)
            The decisions: numbers, or NaN where a decision was not observed.
        cost : sequence of int or str, sequence of float, AffineCost or FunctionCost
            Which signals are the costs of the decisions, in order; or a constant cost; or a rule.
        names : pair of sequences of str, optional
            The names of the signals and of the decisions. By default the column names of the
            frames, or ``s0, s1, ...`` and ``x0, x1, ...``.
        forward : forward problem, optional
            The true problem, where it is known.

        Returns
        -------
        Decisions
            The data, checked.
        """
        problems = Problems()
        given: GivenNames = (column_names(signals), column_names(decisions))
        if names is not None and len(names) == 2:
            given = (names[0], names[1])
        elif names is not None:
            problems.add("names: expected those of the signals and those of the decisions")
        return cls._of(check_arrays(signals, decisions, cost, given, problems), forward)

    @classmethod
    def _of(cls, checked: Checked, forward: Solves | None) -> Self:
        return cls(
            # Copies: what the caller does to the arrays later must not change the data.
            signals=_read_only(checked.signals.copy()),
            decisions=_read_only(checked.decisions.copy()),
            cost=checked.cost,
            cost_matrix=_read_only(checked.cost_matrix.copy()),
            names=checked.names,
            forward=forward,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickling and copying make arrays that can be written to.
        self.__dict__.update(state)
        for name in ("signals", "decisions", "cost_matrix"):
            _read_only(state[name])

    def __len__(self) -> int:
        return len(self.signals)

    def __getitem__(self, index: int | slice | Sequence[int] | NDArray[Any]) -> Self:
        rows = self._rows(index)
        if len(self.signals[rows]) == 0:
            raise DataError(
                f"Decisions: the selection is empty, it has none of {len(self)} samples"
            )
        return replace(
            self,
            signals=_read_only(self.signals[rows]),
            decisions=_read_only(self.decisions[rows]),
            cost_matrix=_read_only(self.cost_matrix[rows]),
        )

    def _rows(self, index: Any) -> slice | NDArray[Any]:
        """Return an index of samples, or refuse another."""
        if isinstance(index, slice):
            return index
        try:
            rows = np.arange(len(self))[index]
        except IndexError as error:
            reason = f": {error}"
        else:
            if rows.ndim < 2:
                return np.atleast_1d(rows)
            reason = ""
        raise DataError(
            "Decisions: an index chooses samples; it is a number, a slice, a list of numbers or a "
            f"mask of all {len(self)}, not {reprlib.repr(index)}{reason}"
        )

    def __repr__(self) -> str:
        sizes = (
            (len(self), "sample"),
            (self.signals.shape[1], "signal"),
            (self.decisions.shape[1], "decision"),
        )
        parts = [f"{size} {what}{'' if size == 1 else 's'}" for size, what in sizes]
        if unobserved := np.count_nonzero(np.isnan(self.decisions)):
            parts.append(f"{unobserved} unobserved")
        cost: object = self.cost
        if isinstance(cost, Sequence | np.ndarray):
            cost = reprlib.repr(np.asarray(cost).tolist())
        parts.append(f"cost={cost}")
        if self.forward is not None:
            parts.append(f"forward={type(self.forward).__name__}")
        return f"Decisions({', '.join(parts)})"


def _read_only(array: Array) -> Array:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
