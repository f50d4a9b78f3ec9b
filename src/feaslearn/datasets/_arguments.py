"""Arguments and random generators that all data sets share."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import Problems
from feaslearn.parameters import NOT_NEGATIVE, Integer, check_value
from feaslearn.runs.memory import check_memory

RandomState = int | np.random.Generator | np.random.RandomState | None
#: Copies of the numbers while data are made, and the size of a column name, in numbers.
COPIES, NAME_SIZE = 3, 20


class Streams(NamedTuple):
    """Independent generators, so that noise can be turned on without changing anything else."""

    structure: np.random.Generator
    signals: np.random.Generator
    decision_noise: np.random.Generator
    signal_noise: np.random.Generator


def check_common(
    problems: Problems,
    n_samples: object,
    noise: object,
    signal_noise: object,
    random_state: RandomState,
) -> Streams:
    """Check the arguments that all data sets share, and return the generators."""
    check_value("n_samples", n_samples, Integer(1), problems)
    check_value("noise", noise, NOT_NEGATIVE, problems)
    check_value("signal_noise", signal_noise, NOT_NEGATIVE, problems)
    return _streams(problems, random_state)


def check_room(owner: str, n_samples: int, columns: int, beside: int = 0) -> None:
    """Refuse data that would not fit into memory."""
    numbers = int(columns) * (COPIES * int(n_samples) + NAME_SIZE) + int(beside)
    check_memory(
        float(min(numbers, 10**30)),
        f"{owner}: {n_samples} samples of {columns} signals and decisions",
        "make fewer samples (n_samples=), a part at a time",
    )


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
    """Draw columns that are uniform, each on its own range."""
    low, high = np.asarray(ranges, dtype=np.float64).T
    return generator.uniform(low, high, size=(n_samples, len(low)))


def noisy(values: Array, deviation: float, generator: np.random.Generator) -> Array:
    """Return the values with Gaussian noise of the given standard deviation added."""
    if not deviation:
        return values
    return values + deviation * generator.standard_normal(values.shape)


def constant_feature(signals: Array) -> Array:
    """Return the features of a region that does not depend on the signal: one, always."""
    return np.ones((len(signals), 1))
