"""Gradients in theta against finite differences, away from ties and kinks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from loss_registry import CASES, KINDS, LOSSES, NORMS, Array, Sample, make_loss, sample

from feaslearn import L1Ball, L2Ball, Scaled
from feaslearn.formulations import losses_by_program
from feaslearn.losses import Loss, Predictability
from feaslearn.sets import PrimitiveSet

STEP = 1e-3
#: One-sided differences that disagree by more than this have a kink between them.
KINK = 5e-6


def row_gradients(loss: Loss, case: Sample) -> Array:
    """Return the gradient of each row, one after the other."""
    one_hot = np.eye(len(case.block.weights))
    return np.array(
        [
            loss.value_and_gradient(
                case.hypothesis, case.theta, case.block._replace(weights=weights)
            )[1]
            for weights in one_hot
        ]
    )


def differences(loss: Loss, case: Sample, direction: Array) -> tuple[Array, Array]:
    """Return the extrapolated central difference, and how far one-sided ones disagree.

    Steps are large, because some values carry a solver's rounding, and of high order for that.
    """
    at = {
        k: values(loss, case._replace(theta=case.theta + k * STEP * direction))
        for k in (-2, -1, 0, 1, 2)
    }
    near, far = (at[1] - at[-1]) / (2 * STEP), (at[2] - at[-2]) / (4 * STEP)
    forward = (-3 * at[0] + 4 * at[1] - at[2]) / (2 * STEP)
    backward = (3 * at[0] - 4 * at[-1] + at[-2]) / (2 * STEP)
    return (4 * near - far) / 3, np.abs(forward - backward)


def values(loss: Loss, case: Sample) -> Array:
    """Return the losses; through the program where that is more exact, on a curved conic set."""
    if isinstance(loss, Predictability) and case.hypothesis.latent(3).code() is None:
        return losses_by_program(loss, *case)
    return loss.samples(*case)


def directions(size: int, count: int = 1) -> Iterator[Array]:
    rng = np.random.default_rng(0)
    for _ in range(count):
        direction = rng.normal(size=size)
        yield direction / np.linalg.norm(direction)


def assert_gradient(loss: Loss, case: Sample, along: Iterator[Array], smooth: float = 0.7) -> None:
    """Compare along directions; at least a share ``smooth`` of the rows can be compared."""
    gradients = row_gradients(loss, case)
    shares = []
    for direction in along:
        slope, kink = differences(loss, case, direction)
        size = np.maximum(1.0, np.abs(slope))
        compared = kink <= KINK * size
        error = np.where(compared, np.abs(gradients @ direction - slope) / size, 0.0)
        assert error.max() <= 1e-5, f"row {error.argmax()}"
        shares.append(compared.mean())
    assert np.mean(shares) >= smooth


@pytest.mark.parametrize(("name", "loss", "norm"), CASES)
def test_every_set_loss_and_norm(name: str, loss: str, norm: str) -> None:
    case = sample(name, rows=6, seed=10)
    assert_gradient(make_loss(loss, norm), case, directions(case.theta.size))


@pytest.mark.parametrize(("name", "loss", "norm"), CASES[1::6])
def test_decisions_that_were_not_observed(name: str, loss: str, norm: str) -> None:
    case = sample(name, rows=5, seed=11, hidden=0.4)
    assert_gradient(make_loss(loss, norm), case, directions(case.theta.size), smooth=0.6)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("norm", ["squared-l2", "l1"])
def test_moving_a_region_with_its_ties(name: str, norm: str) -> None:
    """A move breaks no tie: the distance to a face is differentiable in b, ties or not."""
    case = sample(name, rows=8, seed=12, tied=True)
    # Decisions off the grid: on it, distances in l1 and linf have kinks.
    shift = np.random.default_rng(3).normal(size=case.block.decisions.shape)
    case = case._replace(block=case.block._replace(decisions=case.block.decisions + shift))
    layout = case.hypothesis.layout(3, 2)
    move = np.zeros(layout.size)
    blocks = layout.unpack(move)
    if "b" in blocks:
        blocks["b"][0] = [0.6, -0.3, 0.7]
    else:
        blocks["A"][0] = np.array([[0.2], [-0.1], [0.3]])
    assert_gradient(make_loss("predictability", norm), case, iter([move]), smooth=0.5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("primitive", [L1Ball(3), L2Ball(3)], ids=["l1-ball", "l2-ball"])
def test_scaled_sets(primitive: PrimitiveSet, loss: str, norm: str) -> None:
    rng = np.random.default_rng(1)
    theta = np.append(1.3, rng.normal(size=6))
    case = sample("l1-ball-4", rows=8, seed=13)._replace(hypothesis=Scaled(primitive), theta=theta)
    assert_gradient(make_loss(loss, norm), case, directions(theta.size))
