"""Fitted models of every hypothesis, and regions to export."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.sets import AffineImage
from registry import SETS, fit_to

POWER = fl.datasets.make_power5(40, line_capacity=1.5, random_state=0)
SWITCH = fl.datasets.make_switch(12, random_state=0)
FEW_STEPS = fl.trainers.Annealing(max_iter=2, n_starts=1, ridge=0.1)
#: Every hypothesis, with sets of every kind: hypothesis, trainer, data.
MODELS = {
    "affine-simplex": (fl.Affine(fl.Simplex(4)), FEW_STEPS, POWER),
    "affine-l2": (fl.Affine(fl.L2Ball(3)), FEW_STEPS, POWER),
    "affine-switch": (fl.Affine(fl.Simplex(2)), FEW_STEPS, SWITCH),
    "scaled": (fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"), "auto", POWER),
    "minkowski": (fl.Minkowski.hypersimplices(3), "auto", POWER),
    "minkowski-index": (fl.Minkowski.hypersimplices(3, scale="index"), "auto", POWER),
    "facets": (fl.Facets(3), "auto", POWER),
    "minkowski-box": (fl.Minkowski.box(3), "auto", POWER),
}
CURVED_MODELS = ("affine-l2",)


@cache
def fitted(name: str) -> fl.RegionRegressor:
    """Return a model of that name."""
    hypothesis, trainer, data = MODELS[name]
    return fit_to(data, hypothesis, trainer=trainer)


def signals_of(name: str, count: int) -> np.ndarray:
    """Return signals that the model of that name was fitted to."""
    return MODELS[name][2].signals[:count]


@cache
def mapped(name: str) -> fl.Region:
    """Return a region in three decisions, with names that no file format takes."""
    primitive = SETS[name]()
    rng = np.random.default_rng(0)
    image = AffineImage(primitive, rng.normal(size=(3, primitive.dimension)), rng.normal(size=3))
    return fl.Region(image, ["gas", "CHP 1", "e3"])


@pytest.fixture
def triangle() -> fl.Region:
    """Return the triangle with corners (1, 1), (3, 1), (1, 3)."""
    image = AffineImage(fl.Simplex(3), np.array([[0.0, 2, 0], [0, 0, 2]]), np.ones(2))
    return fl.Region(image, ["hydro", "gas turbine"])
