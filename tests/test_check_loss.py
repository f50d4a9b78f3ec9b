"""The checks of losses and trainers: those of the library pass, broken ones are told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from feaslearn import (
    Affine,
    Box,
    Facets,
    Minkowski,
    Predictability,
    RegionRegressor,
    Scaled,
    Simplex,
    Suboptimality,
    Ternary,
    trainers,
)
from feaslearn.checks import check_gradient, check_loss, check_trainer
from feaslearn.datasets import make_switch
from feaslearn.exceptions import CheckError, UnsupportedError
from feaslearn.losses import Loss, ResidualLoss
from feaslearn.trainers import Trained


class Huber(ResidualLoss):
    """Squared near zero, straight from ``at`` on."""

    def __init__(self, at=0.5):
        self.at = at

    def lengths(self, residuals):
        size = np.abs(residuals)
        return np.where(size <= self.at, size**2, self.at * (2 * size - self.at)).sum(axis=1)

    def slopes(self, residuals):
        return 2.0 * np.clip(residuals, -self.at, self.at)


@pytest.mark.parametrize("loss", [Predictability("linf"), Suboptimality(), Huber()], ids=repr)
def test_right_losses_pass(loss: Loss) -> None:
    check_loss(loss, n_cases=3)


class Negative(Huber):
    def lengths(self, residuals):
        return super().lengths(residuals) - 1.0


class WrongSlope(Huber):
    def slopes(self, residuals):
        return super().slopes(residuals) / 2.0


class SeesNothing(Huber):
    def general_samples(self, hypothesis, theta, block):
        return np.ones(len(block.weights))


class Forgets(Huber):
    def __init__(self, at=0.5):
        self.at = float(at) + 1.0


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (Negative(), "every sample has a loss of at least zero"),
        (WrongSlope(), "the gradient is that of the value"),
        (
            SeesNothing(),
            "(?s)least cost loses nothing.*the weighted sum over.*not observed do not count",
        ),
        (Forgets(), "parameters survive a clone"),
    ],
)
def test_broken_losses_are_told(loss: Loss, told: str) -> None:
    with pytest.raises(CheckError, match=told):
        check_loss(loss, [Affine(Simplex(2)), Scaled(Box(2))], n_cases=4)


@pytest.mark.parametrize("hypothesis", [None, Facets(), Scaled(Box(2)), Affine(Simplex(2))])
def test_a_new_loss_is_served_by_default(hypothesis) -> None:
    data = make_switch(15, random_state=0)
    trainer = trainers.GradientDescent(max_iter=50, n_starts=1) if hypothesis is None else "auto"
    model = RegionRegressor(
        hypothesis, cost=data.cost, loss=Huber(), trainer=trainer, random_state=0
    )
    result = model.fit(data.signals, data.decisions).result_
    assert 0.0 <= result.returned_loss <= 0.5  # the mean decision loses 0.5


@pytest.mark.parametrize("hypothesis", [Minkowski.box(2), Ternary(Box(2))])
def test_where_no_trainer_serves_a_new_loss_each_says_why(hypothesis) -> None:
    data = make_switch(30, random_state=0)
    model = RegionRegressor(hypothesis, cost=data.cost, loss=Huber())
    with pytest.raises(UnsupportedError, match=r"(?s)no trainer serves .* with Huber\(\).*Convex:"):
        model.fit(data.signals, data.decisions)


@pytest.mark.parametrize(
    ("trainer", "hypothesis", "loss"),
    [
        (trainers.GradientDescent(max_iter=20, n_starts=2), None, Suboptimality()),
        (trainers.GradientDescent(max_iter=20, n_starts=2), None, Huber()),
        (trainers.AdaptiveSmoothing(max_iter=20, n_starts=1), None, None),
        (trainers.Annealing(n_starts=1), None, None),
        (trainers.FacetLearning(), Facets(), None),
        pytest.param(  # where it ends depends on the clock
            trainers.MixedInteger(max_seconds=2),
            Affine(Simplex(2, binary=True)),
            None,
            marks=pytest.mark.soak,
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_right_trainers_pass(trainer, hypothesis, loss) -> None:
    check_trainer(trainer, hypothesis, loss)


class Boast(trainers.GradientDescent):
    def search(self, objective, random):
        found = super().search(objective, random)
        told = replace(found.result, objective=0.5 * found.result.objective, status="great")
        return found._replace(result=told)


class Moody(trainers.GradientDescent):
    def search(self, objective, random):
        return super().search(objective, np.random.default_rng())


class Rough(trainers.GradientDescent):
    def search(self, objective, random):
        objective.samples.head().decisions[0] += 1.0
        self.max_iter = 1
        return super().search(objective, random)


class Lazy(trainers.GradientDescent):
    def search(self, objective, random):
        found = super().search(objective, random)
        far = np.full_like(found.theta, 50.0)
        value = objective.value(far)
        return Trained(far, replace(found.result, objective=value, returned_loss=value))


class Short(trainers.GradientDescent):
    def search(self, objective, random):
        found = super().search(objective, random)
        return found._replace(theta=found.theta[1:])


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Boast, r"the result is true: status='great' .*and 1 more"),
        (Moody, "the same seed gives the same region"),
        (Rough, "(?s)max_iter=20 became 1 by training.*training changed the decisions"),
        (Lazy, "something is learned"),
        (Short, "raised|theta has shape"),
    ],
)
def test_broken_trainers_are_told(kind, told: str) -> None:
    with pytest.raises(CheckError, match=told):
        check_trainer(kind(max_iter=20, n_starts=1))


def test_a_trainer_that_refuses_is_told_with_its_reason() -> None:
    with pytest.raises(CheckError, match="is not convex in its parameters"):
        check_trainer(trainers.Convex())


class WrongGradient(Predictability):
    """Forgets the factor two in the offset."""

    def value_and_gradient(self, hypothesis, theta, block):
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
