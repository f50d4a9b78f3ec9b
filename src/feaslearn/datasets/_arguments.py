"""Arguments and random generators that all data sets share."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.costs import CostSpecification
from feaslearn.data import Decisions, Names
from feaslearn.exceptions import Problems
from feaslearn.messages import describe_non_finite
from feaslearn.parameters import NOT_NEGATIVE, Integer, check_value

RandomState = int | np.random.Generator | np.random.RandomState | None


class Streams(NamedTuple):
    """Independent generators, so that noise can be turned on without changing anything else."""

    structure: np.random.Generator
    signals: np.random.Generator
    decision_noise: np.random.Generator


class Draw(NamedTuple):
    """Generators, and the standard deviation of noise on decisions."""

    streams: Streams
    noise: float

    def observed(
        self,
        signals: Array,
        decisions: Array,
        cost: CostSpecification,
        names: Names,
        forward: Any = None,
    ) -> Decisions:
        """Return data with noise, and the true problem behind them."""
        if self.noise:
            drawn = self.streams.decision_noise.standard_normal(decisions.shape)
            decisions = decisions + self.noise * drawn
        return Decisions.from_arrays(signals, decisions, cost, names=names, forward=forward)


def check_common(
    problems: Problems,
    n_samples: object,
    noise: float,
    random_state: RandomState,
) -> Draw:
    """Check the arguments that all data sets share, and return what draws them."""
    check_value("n_samples", n_samples, Integer(1), problems)
    check_value("noise", noise, NOT_NEGATIVE, problems)
    return Draw(_streams(problems, random_state), noise)


def _streams(problems: Problems, random_state: RandomState) -> Streams:
    entropy: object = None
    if isinstance(random_state, np.random.Generator):
        entropy = random_state.integers(2**32, size=4, dtype=np.uint64)
    elif isinstance(random_state, np.random.RandomState):
        entropy = random_state.randint(2**32, size=4, dtype=np.uint64)
    elif isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if int(random_state) < 0:
            problems.add(f"random_state is {random_state}, expected a seed of at least 0")
        else:
            entropy = int(random_state)
    elif random_state is not None:
        problems.add(
            f"random_state is {random_state!r}, expected an integer, a numpy Generator, "
            "a numpy RandomState or None"
        )
    children = np.random.SeedSequence(entropy).spawn(len(Streams._fields))  # type: ignore[arg-type]
    return Streams(*(np.random.default_rng(child) for child in children))


def uniform(
    generator: np.random.Generator, n_samples: int, ranges: Array | list[tuple[float, float]]
) -> Array:
    """Draw columns that are uniform, each on its range."""
    low, high = np.asarray(ranges, dtype=np.float64).T
    return generator.uniform(low, high, size=(n_samples, len(low)))


def numbered(signal: str, decision: str, n: int) -> tuple[list[str], Names]:
    """Return the names of n costs, which are the signals, and all names."""
    signals, decisions = ([f"{word}_{j}" for j in range(1, n + 1)] for word in (signal, decision))
    return signals, Names(tuple(signals), tuple(decisions))


def check_capacity(
    name: str, capacity: ArrayLike, count: int, what: str, problems: Problems
) -> Array:
    """Return one capacity for each line or plant; zeros where a problem was added."""
    try:
        values = np.asarray(capacity, dtype=np.float64)
    except (TypeError, ValueError):
        problems.add(f"{name} is {capacity!r}, expected one number, or one for each {what}")
        return np.zeros(count)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != count):
        problems.add(
            f"{name} has shape {values.shape}, expected one number, or {count}: one for each {what}"
        )
        return np.zeros(count)
    if not (np.isfinite(values) & (values >= 0)).all():
        problems.add(f"{name} is {values.tolist()}, expected finite numbers of at least 0")
    return np.broadcast_to(values, (count,)).copy()


def check_table(
    problems: Problems,
    name: str,
    table: ArrayLike,
    n_columns: int | None,
    *,
    allow_nan: bool = False,
) -> Array:
    """Return a finite float table of ``n_columns`` columns, or add what is wrong with it."""
    empty = np.empty((0, n_columns or 0))
    try:
        values = np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        problems.add(f"{name} is not a table of numbers ({error})")
        return empty
    if values.ndim != 2 or n_columns not in (None, values.shape[1]):
        expected = "columns" if n_columns is None else n_columns
        problems.add(f"{name} has shape {values.shape}, expected (samples, {expected})")
        return empty
    wrong = describe_non_finite(values, allow_nan=allow_nan)
    if wrong is not None:
        problems.add(f"{name}: {wrong}")
        return empty
    return values


def check_same_length(problems: Problems, **tables: Array) -> None:
    """Add a problem if the tables do not have the same number of rows."""
    lengths = {name: len(table) for name, table in tables.items()}
    if not problems and len(set(lengths.values())) > 1:
        given = ", ".join(f"{name} {length}" for name, length in lengths.items())
        problems.add(f"the number of rows differs: {given}; give one row for each sample")
