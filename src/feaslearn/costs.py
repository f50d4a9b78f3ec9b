"""Cost vectors c(s) as functions of the signal s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import column_label, describe_non_finite, find_columns, is_pattern


@dataclass(frozen=True, eq=False, repr=False)
class AffineCost:
    """A cost that is affine in the signal, ``c(s) = C0 + C s``.

    Parameters
    ----------
    C0 : array-like of shape (n,)
        The cost at the zero signal.
    C : array-like of shape (n, K)
        How much each signal adds to the cost of each decision. A signal enters the cost if its
        column is not all zero.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, section 2.

    Examples
    --------
    Two decisions that share one price, the second with a fee of 0.5:

    >>> from feaslearn import AffineCost
    >>> AffineCost([0.0, 0.5], [[1.0, 0.0], [1.0, 0.0]])
    AffineCost(C0 of shape (2,), C of shape (2, 2))
    """

    C0: ArrayLike
    C: ArrayLike

    def __repr__(self) -> str:
        return f"AffineCost(C0 of shape {np.shape(self.C0)}, C of shape {np.shape(self.C)})"


@dataclass(frozen=True, eq=False, repr=False)
class FunctionCost:
    """A cost that is any function of the signal, ``c(s) = fn(s)``.

    Parameters
    ----------
    fn : callable
        Takes all signals, an array of shape (N, K) that it must not change, and returns the
        costs, an array of shape (N, n).
    columns : sequence of int or str
        The signals that ``fn`` reads. They count as entering the cost.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import FunctionCost
    >>> FunctionCost(lambda signals: np.exp(signals[:, :2]), columns=[0, 1])
    FunctionCost(<lambda>, columns=[0, 1])
    """

    fn: Callable[[Array], ArrayLike]
    columns: Sequence[int | str]

    def __repr__(self) -> str:
        name = getattr(self.fn, "__name__", repr(self.fn))
        return f"FunctionCost({name}, columns={list(self.columns)})"


CostSpecification: TypeAlias = (
    Sequence[int | str] | Sequence[float] | NDArray[np.generic] | AffineCost | FunctionCost
)


@dataclass(frozen=True, eq=False)
class ResolvedCost:
    """A cost checked against the data, names turned into positions."""

    columns: tuple[int, ...]
    specification: CostSpecification
    n_decisions: int
    n_signals: int
    what: str = "cost"

    def evaluate(self, signals: Array) -> Array:
        """Evaluate ``c(s)`` for every row of signals (N, K): finite costs (N, n)."""
        costs = np.ascontiguousarray(self.rule(signals), dtype=np.float64)
        expected = (len(signals), self.n_decisions)
        if costs.shape != expected:
            raise DataError(f"cost: the function gave shape {costs.shape}, expected {expected}")
        wrong = describe_non_finite(costs)
        if wrong is not None:
            raise DataError(f"cost: {wrong}; a cost must be finite for every sample")
        return costs

    def rule(self, signals: Array) -> ArrayLike:
        """Return the costs before they are checked."""
        cost = self.specification
        if isinstance(cost, AffineCost):
            return np.asarray(signals @ np.transpose(cost.C) + cost.C0)
        if isinstance(cost, FunctionCost):
            return self._of_function(cost, signals)
        if self.columns:
            return signals.take(self.columns, axis=1)
        return np.tile(np.asarray(cost, dtype=np.float64), (len(signals), 1))

    def _of_function(self, cost: FunctionCost, signals: Array) -> ArrayLike:
        view = signals.view()
        view.flags.writeable = False
        try:
            return np.asarray(cost.fn(view), dtype=np.float64)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise DataError(f"{self.what}: the function failed: {what}") from error


def resolve_cost(
    specification: CostSpecification | None,
    *,
    n_decisions: int | None,
    signal_names: Sequence[str] | None,
    n_signals: int | None,
    problems: Problems,
    what: str = "cost",
) -> ResolvedCost | None:
    """Check a cost against the data; sizes that are None are not checked."""
    before = len(problems)
    resolver = _Resolver(n_decisions, signal_names, n_signals, problems, what)
    if isinstance(specification, AffineCost):
        parts = resolver.affine(specification)
    elif isinstance(specification, FunctionCost):
        parts = resolver.function(specification)
    else:
        parts = resolver.listed(specification)
    if parts is None or len(problems) > before or n_decisions is None or n_signals is None:
        return None
    return ResolvedCost(*parts, n_decisions, n_signals, what)


_Parts: TypeAlias = tuple[tuple[int, ...], CostSpecification]


class _Resolver(NamedTuple):
    """What the kinds of specification are checked against."""

    n_decisions: int | None
    names: Sequence[str] | None
    n_signals: int | None
    problems: Problems
    what: str

    def affine(self, cost: AffineCost) -> _Parts | None:
        C0 = self._coefficients("C0", cost.C0, (self.n_decisions,))
        C = self._coefficients("C", cost.C, (self.n_decisions, self.n_signals))
        if C0 is None or C is None:
            return None
        return tuple(np.flatnonzero(C.any(axis=0)).tolist()), cost

    def function(self, cost: FunctionCost) -> _Parts | None:
        if not callable(cost.fn):
            self.problems.add(f"{self.what}: fn of FunctionCost is {cost.fn!r}, not a function")
        items = _items(cost.columns, self.problems)
        if items is None:
            return None
        columns = self._find(items)
        return columns, FunctionCost(cost.fn, columns)

    def listed(self, cost: CostSpecification | None) -> _Parts | None:
        items = _items(cost, self.problems)
        if items is None or cost is None:
            return None
        constant = _as_constant(items)
        if constant is not None:
            self._count(len(items))
            if not np.isfinite(constant).all():
                self.problems.add(f"{self.what}: the constant cost {items} must be finite")
            return (), cost
        before = len(self.problems)
        columns = self._find(items)
        if len(self.problems) == before:
            self._count(len(columns))
        elif not any(isinstance(item, str) and is_pattern(item) for item in items):
            self._count(len(items))
        for j in sorted({j for j in columns if columns.count(j) > 1}):
            self.problems.add(
                f"{self.what}: column {column_label(j, self.names)} is listed more than once; a "
                "constant cost is written with floats, a price of several decisions with AffineCost"
            )
        named = any(isinstance(item, str) for item in items)
        return columns, list(columns) if named else cost

    def _coefficients(
        self, name: str, values: ArrayLike, shape: tuple[int | None, ...]
    ) -> Array | None:
        try:
            array = np.asarray(values).astype(np.float64, casting="same_kind")
        except (TypeError, ValueError):
            self.problems.add(
                f"{self.what}: {name} of AffineCost must be a regular array of real numbers"
            )
            return None
        if array.ndim != len(shape) or (None not in shape and array.shape != shape):
            self.problems.add(
                f"{self.what}: {name} of AffineCost has shape {array.shape}, not {shape}"
            )
            return None
        if not np.isfinite(array).all():
            self.problems.add(f"{self.what}: {name} of AffineCost holds NaN or infinite values")
        return array

    def _find(self, items: list[object]) -> tuple[int, ...]:
        return find_columns(
            items, self.names, self.n_signals, self.what, "among the signals", self.problems
        )

    def _count(self, entries: int) -> None:
        if self.n_decisions not in (None, entries):
            self.problems.add(
                f"{self.what}: the number of entries is {entries}, that of decisions "
                f"{self.n_decisions}; give one entry for each decision"
            )


def _items(listed: object, problems: Problems) -> list[object] | None:
    """List the entries of a specification, or say why it has none."""
    if isinstance(listed, Sequence):
        return [listed] if isinstance(listed, str) else list(listed)
    if hasattr(listed, "__array__") and np.ndim(listed) == 1:
        return list(np.asarray(listed).tolist())
    what = f"an array of shape {np.shape(listed)}" if hasattr(listed, "shape") else repr(listed)
    problems.add(
        f"cost: {what} is not a list of columns, a constant vector, an AffineCost or a "
        "FunctionCost; costs that differ between samples are signals: list their columns"
    )
    return None


def _as_constant(items: list[object]) -> Array | None:
    """Read a constant cost: real numbers, at least one of them not an integer."""
    if all(isinstance(item, Integral) for item in items):
        return None
    if any(isinstance(item, bool) or not isinstance(item, Real) for item in items):
        return None
    return np.array(items, dtype=np.float64)
