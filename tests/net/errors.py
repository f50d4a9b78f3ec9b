"""Wrong input of every kind, each as a call that must raise an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from feaslearn import trainers
from net.cases import table

DATA = fl.datasets.make_power5(40, random_state=0)
X, Y = DATA.signals, DATA.decisions
FEW = trainers.GradientDescent(max_iter=2, n_starts=1)


def _changed(values: Any, i: int, j: int, value: float) -> Any:
    copy = np.array(values, dtype=float)
    copy[i, j] = value
    return copy


def _fit(hypothesis: Any = None, X: Any = X, y: Any = Y, **options: Any) -> object:
    at_fit = {name: options.pop(name) for name in ("costs", "sample_weight") if name in options}
    given = {"cost": DATA.cost, "trainer": FEW, "random_state": 0, **options}
    return fl.RegionRegressor(hypothesis or fl.Affine(fl.Simplex(3)), **given).fit(X, y, **at_fit)


def _fitted() -> fl.RegionRegressor:
    data = table("switch")
    return fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost).fit(
        data.signals, data.decisions
    )


def _everything() -> object:
    return _fit(
        "affine",
        _changed(X, 3, 2, np.nan),
        _changed(Y, 7, 1, np.inf)[:-1],
        cost=["price"],
        features="nonsense",
        loss="l2",
        trainer="fast",
        sense="best",
        known="balance",
        random_state="seed",
        n_jobs=0,
        verbose="yes",
        costs=Y[:, :2],
        sample_weight=-np.ones(40),
    )


def _known(**options: Any) -> object:
    return _fit(fl.Minkowski.hypersimplices(3), trainer="auto", known=fl.Known(**options))


ERRORS: dict[str, Callable[[], object]] = {
    "everything": _everything,
    "nan signal": lambda: _fit(X=_changed(X, 3, 2, np.nan)),
    "infinite decision": lambda: _fit(y=_changed(Y, 7, 1, np.inf)),
    "huge number": lambda: _fit(X=_changed(X, 4, 5, 1e200)),
    "rows differ": lambda: _fit(y=Y[:-3]),
    "no rows": lambda: _fit(X=X[:0], y=Y[:0]),
    "a vector of signals": lambda: _fit(X=X[:, 0]),
    "texts": lambda: _fit(X=np.array([["a", "b"]] * 40), cost=[0.5, 1.0, 2.0]),
    "objects": lambda: _fit(X=np.array([[{}, {}]] * 40, dtype=object), cost=[0.5, 1.0, 2.0]),
    "complex": lambda: _fit(X=X + 1j),
    "cost column": lambda: _fit(cost=["prcie"]),
    "cost too short": lambda: _fit(cost=[0, 1]),
    "cost out of range": lambda: _fit(cost=[0, 1, 12]),
    "costs shape": lambda: _fit(costs=Y[:, :2]),
    "weights": lambda: _fit(sample_weight=np.full(40, -1.0)),
    "weights zero": lambda: _fit(sample_weight=np.zeros(40)),
    "weights length": lambda: _fit(sample_weight=np.ones(3)),
    "hypothesis class": lambda: _fit(fl.Simplex(3)),
    "loss": lambda: _fit(loss="predictabilty"),
    "loss norm": lambda: _fit(loss=fl.Predictability("l3")),
    "trainer": lambda: _fit(trainer="annealing"),
    "trainer mismatch": lambda: _fit(trainer=trainers.Convex()),
    "mixed integer mismatch": lambda: _fit(trainer=trainers.MixedInteger()),
    "facet learning mismatch": lambda: _fit(trainer=trainers.FacetLearning()),
    "trainer parameters": lambda: _fit(
        trainer=trainers.Annealing(max_iter=-1, n_starts=0, ridge=-2.0, max_seconds=-1.0)
    ),
    "convex parameters": lambda: _fit(
        fl.Minkowski.hypersimplices(3), trainer=trainers.Convex(ridge=-1.0, n_folds=1)
    ),
    "facet parameters": lambda: _fit(fl.Facets(max_facets=-2), trainer="auto"),
    "facet bounds": lambda: _fit(fl.Facets(bounds=([0.0, 0.0], 1.0)), trainer="auto"),
    "simplex size": lambda: _fit(fl.Affine(fl.Simplex(0))),
    "scaled dimension": lambda: _fit(fl.Scaled(fl.Simplex(2)), trainer="auto"),
    "box order": lambda: fl.Box(2, [1.0, 0.0], [0.0, 1.0]).check(),
    "empty polytope": lambda: fl.Polytope([[1.0], [-1.0]], [1.0, 1.0]).check(),
    "unbounded polytope": lambda: fl.Polytope([[1.0, 0.0]], [0.0]).check(),
    "polytope shape": lambda: fl.Polytope([[1.0, 0.0]], [0.0, 1.0]).check(),
    "hypersimplex": lambda: fl.Hypersimplex(3, 4).check(),
    "conic": lambda: fl.ConicSet([[1.0]], [0.0], [("exponential", 1)]).check(),
    "too many vertices": lambda: fl.Box(30).vertices(1000),
    "term": lambda: _fit(fl.Minkowski([fl.Simplex(2)]), trainer="auto"),
    "term coordinates": lambda: _fit(
        fl.Minkowski([fl.Term(fl.Simplex(2), [0, 7])]), trainer="auto"
    ),
    "scale": lambda: _fit(fl.Minkowski.hypersimplices(3, scale="afine"), trainer="auto"),
    "no terms": lambda: _fit(fl.Minkowski([], offset=False), trainer="auto"),
    "known rows": lambda: _known(G=[[1.0, 1.0]], g=[0.0]),
    "known without right side": lambda: _known(G=[[1.0, 1.0, 0.0]]),
    "known contradictions": lambda: _known(bounds=(1.0, 3.5)),
    "known crossed": lambda: _known(bounds=(4.0, 3.5)),
    "known balance": lambda: _known(balance=(np.ones(2), 1.0)),
    "known column": lambda: _known(bounds=(["demnad", None, None], None)),
    "known nothing": lambda: _known(contradictions="ignore", tolerance=-1.0),
    "not fitted": lambda: fl.RegionRegressor(fl.Facets()).predict(X),
    "columns at predict": lambda: _fitted().predict([[0.1, 0.2]]),
    "costs at predict": lambda: _fitted().predict([[0.1]], costs=[[1.0, 2.0, 3.0]]),
    "nan at predict": lambda: _fitted().predict([[np.nan]]),
    "region of two": lambda: _fitted().region([[0.1], [0.2]]),
    "direction": lambda: _fitted().region([0.1]).support([1.0, 2.0, 3.0]),
    "evaluate unfitted": lambda: fl.evaluate(fl.RegionRegressor(fl.Facets()), DATA),
    "score loss": lambda: _fitted().sample_losses(
        fl.Predictability("l3"), [[0.1]], [[1.0, 2.0, 3.0]]
    ),
    "load missing": lambda: fl.load(Path("no such file.json")),
    "data set noise": lambda: fl.datasets.make_power5(10, noise=-1.0),
    "data set rows": lambda: fl.datasets.make_switch(0),
    "data set case": lambda: fl.datasets.make_dcopf("case5_pjm", 3, variant="dry"),
    "chunks": lambda: _fit(X=fl.Chunks((X, Y[:-1])), y=None),
    "chunks and y": lambda: _fit(X=fl.Chunks((X, Y)), y=Y),
    "decisions": lambda: fl.Decisions.from_arrays(X, Y[:-1], cost=[0, 1]),
    "affine cost": lambda: _fit(cost=fl.AffineCost([0.0], [[1.0, np.nan]])),
    "consistency": lambda: fl.consistency(DATA, "facets"),
    "network": lambda: fl.NetworkLearner(
        5, [0, 7], generator_capacity=-1.0, line_capacity=1.0, cost=[0, 1], demand=[2]
    ).fit(X, Y),
}
