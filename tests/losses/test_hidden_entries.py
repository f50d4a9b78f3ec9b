"""Decisions that were seen in part, where only some points of the latent set can be taken."""

from __future__ import annotations

import numpy as np
import pytest
from loss_registry import NORMS, make_loss
from scipy.optimize import minimize_scalar

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import UnsupportedError
from feaslearn.losses import Objective

LENGTHS = {"l1": 1, "l2": 2, "squared-l2": 2, "linf": np.inf}


def drawn() -> tuple[fl.Affine, np.ndarray, Block]:
    """Draw rows of two decisions, the second of which is hidden in all but the last."""
    hypothesis = fl.Affine(fl.Simplex(3, binary=True))
    rng = np.random.default_rng(5)
    theta = rng.normal(size=hypothesis.layout(2, 2).size)
    decisions = rng.normal(size=(5, 2))
    decisions[:-1, 1] = np.nan
    features = np.column_stack([np.ones(5), rng.normal(size=5)])
    return hypothesis, theta, Block(features, rng.normal(size=(5, 2)), decisions, np.ones(5))


@pytest.mark.parametrize("norm", NORMS)
def test_the_hidden_entry_and_the_point_are_chosen_together(norm: str) -> None:
    """Against a search over each point of the set and the one number that was not seen."""
    hypothesis, theta, block = drawn()
    loss = make_loss("suboptimality", norm)
    found = loss.rows(hypothesis, theta, block)
    costs = loss.unit_costs(block.costs)
    for i, (phi, c, x) in enumerate(zip(block.features, costs, block.decisions, strict=True)):
        points = hypothesis.image(theta, phi, 2).vertices()
        least = min(points @ c)

        def length(u: float, point: np.ndarray, c: np.ndarray, x: np.ndarray, e: float) -> float:
            whole = np.where(np.isnan(x), u, x)
            parts = np.append(whole - point, max(c @ whole - e, 0.0))
            return float(np.linalg.norm(parts, LENGTHS[norm]))

        best = min(
            minimize_scalar(length, args=(point, c, x, least), options={"xtol": 1e-12}).fun
            for point in points
        )
        expected = best**2 if norm == "squared-l2" else best
        assert found.values[i] == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert not found.tied.any()


def test_only_images_of_a_set_have_a_gradient() -> None:
    _, _, block = drawn()
    objective = Objective(fl.Predictability(), fl.Facets(2), Samples.of(block))
    with pytest.raises(UnsupportedError, match=r"Facets.* has no gradient"):
        objective.value_and_gradient(np.zeros(3))
