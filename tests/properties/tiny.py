"""Tiny problems and cheap models on which properties are tried many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from hypothesis import strategies as st

import feaslearn as fl
from registry import Array

#: Units in which nothing may change but the numbers: powers of two, of ten, and others.
FACTORS = (2.0**-20, 2.0**20, 3.7e6, 1e-7, 1e9, 0.3)
#: Predictions agree to this share of the decisions' spread.
AGREE = 1e-6


@dataclass(frozen=True)
class Tiny:
    """Signals whose first n columns are the costs, decisions, and new signals."""

    signals: Array
    decisions: Array
    new: Array
    costs: tuple[int, ...]
    seed: int

    @property
    def n(self) -> int:
        return self.decisions.shape[1]

    @property
    def features(self) -> list[int]:
        return [j for j in range(self.signals.shape[1]) if j not in self.costs]

    @property
    def spread(self) -> float:
        return float(np.ptp(self.decisions, axis=0).max())

    def scaled(self, columns: list[int], factors: Array | float) -> Tiny:
        """Return the problem with some signals in other units."""
        unit = np.ones(self.signals.shape[1])
        unit[columns] = factors
        return replace(self, signals=self.signals * unit, new=self.new * unit)


@st.composite
def tiny(draw: Any, least: int = 12, most: int = 24, noise: bool | None = None) -> Tiny:
    """Draw decisions that are optimal in a box that moves with two features, some with noise."""
    number = draw(st.integers(0, 2**32 - 1))
    n, size = draw(st.integers(2, 3)), draw(st.integers(least, most))
    noisy = draw(st.booleans()) if noise is None else noise
    # Numbers that are drawn are often small and the same: all choices together make the seed.
    seed = crc32(repr((number, n, size, noisy)).encode())
    random = np.random.default_rng(seed)
    signals = np.hstack([random.normal(size=(size + 10, n)), random.random((size + 10, 2))])
    reach = random.random((n, 2)) + 0.2
    side = np.where(signals[:, :n] > 0.0, -1.0, 1.0)
    decisions = random.normal(size=n) + side * (0.5 + signals[:, n:] @ reach.T)
    if noisy:
        decisions = decisions + 0.1 * random.normal(size=decisions.shape)
    return Tiny(signals[:size], decisions[:size], signals[size:], tuple(range(n)), seed)


Model = Callable[[int], tuple[Any, Any]]

#: Every hypothesis that a fit of some milliseconds can train, with its trainer.
MODELS: dict[str, Model] = {
    "linear policy": lambda n: (fl.Affine(fl.Simplex(1)), "auto"),
    "scaled": lambda n: (fl.Minkowski([fl.Term(fl.Box(n))], scale="constant"), "auto"),
    "minkowski": lambda n: (
        fl.Minkowski.hypersimplices(n),
        fl.trainers.Convex(sparsity=0.0, n_folds=2),
    ),
    "affine": lambda n: (
        fl.Affine(fl.Simplex(3)),
        fl.trainers.Annealing(max_iter=8, n_starts=2, ridge=0.1),
    ),
    "facets": lambda n: (fl.Facets(max_facets=1), fl.trainers.FacetLearning(noise=0.0)),
}
models = st.sampled_from(list(MODELS))
#: Those whose fits are exact: searches are as good in any unit and order, not equal.
exact_models = st.sampled_from([name for name in MODELS if name != "affine"])


def fitted(problem: Tiny, model: str, **parameters: Any) -> fl.RegionRegressor:
    """Return the model of a problem."""
    hypothesis, trainer = MODELS[model](problem.n)
    weights = parameters.pop("sample_weight", None)
    given = {"cost": list(problem.costs), "random_state": problem.seed % 1000} | parameters
    return fl.RegionRegressor(hypothesis, trainer=trainer, **given).fit(
        problem.signals, problem.decisions, sample_weight=weights
    )


def predicted(problem: Tiny, model: str, **parameters: Any) -> Array:
    """Return what the model of a problem predicts for new signals."""
    return np.asarray(fitted(problem, model, **parameters).predict(problem.new))
