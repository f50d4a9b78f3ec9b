"""One registry of what can be saved: every public hypothesis, set, loss and trainer."""

from __future__ import annotations

import inspect
import warnings
from copy import copy
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import feaslearn as fl
from feaslearn.exceptions import FeaslearnError, FeaslearnWarning
from feaslearn.hypotheses import Hypothesis
from feaslearn.io.registry import MODULES
from feaslearn.sets import PrimitiveSet
from feaslearn.trainers import Trainer
from registry import SETS, example

Array = NDArray[np.float64]
N_SIGNALS = 3

#: Instances of classes that cannot be made without parameters, for two decisions.
MADE: dict[str, Any] = {
    "Box": fl.Box(2, [-1.0, 0.0], 3),
    "ConicSet": SETS["conic-half-disc"](),
    "Facets": fl.Facets(4, bounds=([0.0, -9.0], np.array([9.0, 9.0]))),
    "Hypersimplex": fl.Hypersimplex(np.int64(2), 1),
    "Polytope": SETS["polytope-triangle"](),
}


def public(module: ModuleType, base: type) -> list[type]:
    """Return the public classes of a kind that are not abstract, also of modules in a module."""
    found: list[type] = []
    for thing in (getattr(module, name) for name in module.__all__):
        if isinstance(thing, ModuleType):
            found += public(thing, base)
        elif isinstance(thing, type) and issubclass(thing, base) and not inspect.isabstract(thing):
            found.append(thing)
    return found


def instance(kind: type) -> Any:
    """Return an instance for two decisions; a new class may need an entry above."""
    if kind.__name__ in MADE:
        return MADE[kind.__name__]
    for arguments in ((), (2,), (fl.Simplex(2),), ("auto",)):
        try:
            made: Any = kind(*arguments)
            if isinstance(made, Hypothesis):
                made.check(2)
            elif isinstance(made, PrimitiveSet):
                made.check()
        except (TypeError, FeaslearnError):
            continue
        return made
    raise AssertionError(f"put an instance of {kind.__name__} into MADE in {__file__}")


def quick(kind: type) -> Any:
    """Return a trainer that does not take long."""
    limits = {"max_iter": 2, "n_starts": 1, "n_folds": 2, "max_seconds": 5.0, "tries": 1}
    known = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in limits.items() if name in known})


@cache
def table(n: int, rows: int = 12) -> tuple[Array, Array]:
    """Return signals and decisions: prices first, then a demand that the decisions share."""
    rng = np.random.default_rng(n)
    signals = np.hstack([rng.normal(size=(rows, n)), rng.uniform(1.0, 2.0, size=(rows, 1))])
    share = 1.0 / (1.0 + np.exp(signals[:, :n]))
    return signals, np.asarray(share * signals[:, n:] / share.sum(axis=1, keepdims=True))


def fit(hypothesis: Hypothesis | None, n: int = 2, **parameters: Any) -> fl.RegionRegressor:
    """Fit a model to the table; the prices are the cost unless another is given."""
    signals, decisions = table(n)
    parameters = {"cost": list(range(n)), "random_state": 0} | parameters
    model = fl.RegionRegressor(hypothesis, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        return model.fit(signals, decisions)


@cache
def _linear(n: int) -> fl.RegionRegressor:
    """Return a fitted linear policy of n decisions."""
    return fit(fl.Affine(fl.Simplex(1)), n=n)


def planted(kind: type, name: str) -> fl.RegionRegressor:
    """Return a model of a set of the registry whose parameters were drawn, not trained."""
    primitive = example(name)
    hypothesis = kind(primitive)
    try:
        n = 2
        hypothesis.check(n)
    except FeaslearnError:
        n = primitive.dimension
        hypothesis.check(n)
    model = copy(_linear(n)).set_params(hypothesis=hypothesis)
    size = hypothesis.layout(n, model.features_.n_features).size
    model.hypothesis_, model.theta_ = hypothesis, np.random.default_rng(0).normal(size=size)
    return model


HYPOTHESES = public(fl.hypotheses, Hypothesis)
TRAINERS = public(fl.trainers, Trainer)
#: Everything that is described by its parameters, whatever a parameter of it may be.
PARAMETRISED = [kind for module in MODULES for kind in public(module, BaseEstimator)]
