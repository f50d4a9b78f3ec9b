"""Starts, cross-validation and bootstrap on the cluster, through joblib."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.model_selection import cross_val_score

import feaslearn as fl

DATA = fl.datasets.make_power5(80, noise=0.1, random_state=0)
PAIR = (DATA.signals, DATA.decisions)
QUICK = {"ridge": 0.1, "ridge_floor": 1.0, "max_iter": 20}


def affine(n_starts: int, n_jobs: int | None = None) -> fl.RegionRegressor:
    trainer = fl.trainers.Annealing(n_starts=n_starts, **QUICK)
    return fl.RegionRegressor(
        fl.Affine(fl.Simplex(3)), cost=DATA.cost, trainer=trainer, random_state=0, n_jobs=n_jobs
    )


def test_starts_are_walked_on_the_cluster(client: Any) -> None:
    here = affine(3).fit(*PAIR)
    with parallel_config(backend="dask"):
        there = affine(3, n_jobs=-1).fit(*PAIR)
    np.testing.assert_array_equal(there.theta_, here.theta_)
    assert there.result_.n_iter == here.result_.n_iter
    assert there.result_.history == here.result_.history


def test_cross_validation_on_the_cluster(client: Any) -> None:
    model = fl.RegionRegressor(fl.Minkowski("auto"), cost=DATA.cost, random_state=0)
    here = cross_val_score(model, *PAIR, cv=3)
    with parallel_config(backend="dask"):
        there = cross_val_score(model, *PAIR, cv=3, n_jobs=-1)
    np.testing.assert_array_equal(there, here)


def test_bootstrap_on_the_cluster(client: Any) -> None:
    for model in (fl.RegionRegressor(fl.Minkowski("auto"), cost=DATA.cost), affine(1)):
        model.fit(*PAIR)
        here = model.bootstrap(10, random_state=0)
        with parallel_config(backend="dask"):
            there = model.bootstrap(10, random_state=0, n_jobs=-1)
        for one, other in zip(here.refits, there.refits, strict=True):
            np.testing.assert_array_equal(one.theta_, other.theta_)
