"""Regions as linear programs: their forms, the functions of their scales, and slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import feaslearn as fl
from feaslearn.hypotheses.lifted_region import LiftedSlopes, boxed_form, lifted_region, pull_back

SCALES = ("affine", "shared", "constant", "box", "tents", "index")
TERMS = [
    fl.Term(fl.Simplex(3)),
    fl.Term(fl.Hypersimplex(3, 2)),
    fl.Term(fl.Box(2), [2, 0], [1.0, -2]),
]
LIFTED: dict[str, Any] = {
    "affine": fl.Affine(fl.Simplex(2)),
    "affine cross": fl.Affine(fl.L1Ball(2)),
    "scaled": fl.Scaled(fl.Hypersimplex(3, 2)),
    **{scale: fl.Minkowski(TERMS, scale=scale, n_knots=3) for scale in SCALES},
    "without offset": fl.Minkowski(TERMS, offset=False),
}


@pytest.mark.parametrize("name", LIFTED)
def test_slopes_of_lifted_regions_are_those_of_their_numbers(name: str) -> None:
    model, rng, n, k = LIFTED[name], np.random.default_rng(0), 3, 3
    features = np.column_stack([np.ones(5), rng.uniform(0.1, 0.9, size=(5, k - 1))])
    layout = model.layout(n, k)
    theta = rng.normal(size=layout.size)
    blocks = layout.unpack(theta)
    if "knots" in blocks:
        places = np.linspace(0.0, 1.0, len(blocks["knots"]))
        blocks["knots"][:] = places[:, None]
    parts = [
        name
        for name in LiftedSlopes._fields
        if name != "M" or isinstance(model, fl.Affine | fl.Scaled)
    ]
    region = lifted_region(model, theta, features, n)
    assert region is not None
    slopes = LiftedSlopes(
        rng.normal(size=(5, *region.M.shape[-2:])),
        *(rng.normal(size=getattr(region, name).shape) for name in LiftedSlopes._fields[1:]),
    )

    def total(theta: Any) -> float:
        region = lifted_region(model, theta, features, n)
        return sum(float((getattr(slopes, part) * getattr(region, part)).sum()) for part in parts)

    found = pull_back(model, theta, features, slopes)
    for j in range(len(theta)):
        if "knots" in blocks and np.shares_memory(theta[j : j + 1], blocks["knots"]):
            continue
        step = np.zeros(len(theta))
        step[j] = 1e-6
        slope = (total(theta + step) - total(theta - step)) / 2e-6
        assert found[j] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize(
    "primitive",
    [fl.Simplex(3), fl.Box(2, -1.0, [2.0, 0.5]), fl.L1Ball(2), fl.Hypersimplex(4, 2)],
)
def test_boxed_forms_hold_the_same_points(primitive: Any) -> None:
    form = boxed_form(primitive)
    assert form is not None
    for q in np.random.default_rng(0).normal(size=(4, primitive.dimension)):
        equal = form.slack == 0.0
        found = linprog(
            q @ form.M,
            A_ub=form.W[~equal],
            b_ub=form.w[~equal],
            A_eq=form.W[equal],
            b_eq=form.w[equal],
            bounds=np.column_stack([form.lower, form.upper]),
        )
        assert found.fun == pytest.approx(primitive.minimum(q[None])[0], abs=1e-9)
    box = fl.Box(2, -1.0, 1.0)
    assert len(boxed_form(box).w) == 0  # type: ignore[union-attr]
    assert boxed_form(fl.L2Ball(2)) is None
    assert boxed_form(fl.Simplex(2, binary=True)) is None
