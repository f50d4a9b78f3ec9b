"""Models of every kind that files hold."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.hypotheses import Hypothesis

Array = NDArray[np.float64]
N_SIGNALS = 3

TRIANGLE = fl.Polytope([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, -1.0])
SETS = {
    "box": fl.Box(2, [-1.0, 0.0], 3),
    "hypersimplex": fl.Hypersimplex(3, 1),
    "l1-ball": fl.L1Ball(2),
    "l2-ball": fl.L2Ball(2),
    "polytope": TRIANGLE,
    "simplex": fl.Simplex(4),
}
#: Hypotheses of two decisions.
HYPOTHESES: dict[str, Hypothesis] = {
    **{f"affine-{name}": fl.Affine(primitive) for name, primitive in SETS.items()},
    "linear-policy": fl.Affine(fl.Simplex(1)),
    "facets": fl.Facets(),
    "few-facets": fl.Facets(4, bounds=([0.0, -9.0], np.array([9.0, 9.0]))),
    "minkowski": fl.Minkowski(),
    "terms": fl.Minkowski([fl.Term(fl.L2Ball(2)), fl.Term(fl.Simplex(2), [1, 0], 2.0)]),
    "matrix": fl.Minkowski([fl.Term(fl.Box(1), matrix=[[1.0], [0.1]])], scale="constant"),
}


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
