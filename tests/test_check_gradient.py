"""The check of gradients: those of the library pass, a wrong one is told by its parameter."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from feaslearn import Affine, Predictability, Scaled, Suboptimality
from feaslearn.checks import check_gradient
from feaslearn.data import Block
from feaslearn.exceptions import CheckError
from feaslearn.hypotheses import MapHypothesis
from feaslearn.losses import Loss
from feaslearn.sets import Box, Simplex

Array = NDArray[np.float64]


@pytest.mark.parametrize(
    "loss",
    [
        Predictability(squared=False),
        Predictability("l1"),
        Predictability("linf"),
        Suboptimality(squared=False),
        Suboptimality("l1"),
        Suboptimality("linf", normalize_cost=False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("hypothesis", [Affine(Simplex(3)), Scaled(Box(2))], ids=repr)
def test_gradients_of_every_loss_are_right(hypothesis: MapHypothesis, loss: Loss) -> None:
    assert check_gradient(loss, hypothesis, n_cases=1) <= 1e-5


class WrongGradient(Predictability):
    """Forgets the factor two in the offset."""

    def value_and_gradient(
        self, hypothesis: MapHypothesis, theta: Array, block: Block
    ) -> tuple[float, Array]:
        value, gradient = super().value_and_gradient(hypothesis, theta, block)
        n, k = block.decisions.shape[1], block.features.shape[1]
        hypothesis.layout(n, k).unpack(gradient)["b"][...] /= 2.0
        return value, gradient


def test_a_wrong_gradient_is_told_by_its_parameter() -> None:
    with pytest.raises(CheckError, match=r"the gradient in b\[\d, \d\] is .*, but differences say"):
        check_gradient(WrongGradient(), Affine(Box(2)))


def test_a_hypothesis_that_nothing_fits() -> None:
    with pytest.raises(CheckError, match="accepts no number of decisions"):
        check_gradient(Predictability(), Scaled(Simplex(40)))


def test_nothing_to_compare_is_no_success() -> None:
    with pytest.raises(CheckError, match="no entry could be compared"):
        check_gradient(Predictability(), Affine(Simplex(2)), n_cases=0)
