"""Check of the gradient of a loss, by finite differences."""

from __future__ import annotations

import numpy as np

from feaslearn.data import Block
from feaslearn.exceptions import CheckError, UnsupportedError
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.losses.loss import Loss

N_ROWS, N_FEATURES, N_PARAMETERS = 3, 3, 8
#: Exact losses need small steps, those that ask a solver larger ones.
STEPS = (1e-6, 1e-5, 1e-4)
#: One-sided slopes that differ by more than this (relatively) are those of a kink or a jump.
KINK = 1e-2


def check_gradient(
    loss: Loss,
    hypothesis: MapHypothesis,
    *,
    random_state: int = 0,
    n_cases: int = 20,
    tolerance: float = 1e-5,
) -> float:
    r"""Compare the gradient of a loss with central differences on random data.

    .. math:: \frac{\partial \ell}{\partial \theta_j} \approx
        \frac{\ell(\theta + \delta e_j) - \ell(\theta - \delta e_j)}{2 \delta}

    Entries where the two one-sided differences disagree are left out: there the loss has a kink
    or a jump (two minimisers tie).

    Parameters
    ----------
    loss : Loss
        The loss.
    hypothesis : Hypothesis
        The class of regions.
    random_state : int, default=0
        Seed of the random parameters and data. One in four decisions of every second case is not
        observed (NaN).
    n_cases : int, default=20
        How many random parameters.
    tolerance : float, default=1e-5
        Largest error allowed, relative to the largest slope of the case and at least to one.

    Returns
    -------
    float
        The largest error.

    Raises
    ------
    CheckError
        If an error is above the tolerance; the message names the parameter. Also if every entry
        had to be left out.

    See Also
    --------
    check_primitive_set : The same for a primitive set.

    Examples
    --------
    >>> from feaslearn import Affine, L2Ball, Predictability
    >>> from feaslearn.checks import check_gradient
    >>> check_gradient(Predictability(), Affine(L2Ball(2))) < 1e-6
    True
    """
    rng = np.random.default_rng(random_state)
    n = _fitting_n(hypothesis)
    found: list[tuple[float, str]] = []
    for case in range(n_cases):
        block = _random_block(rng, n, hidden=case % 2 == 1)
        found += _differences(loss, hypothesis, block, rng)
    name = f"{loss!r} of {hypothesis!r}"
    if not found:
        raise CheckError(f"{name}: no entry could be compared; every case ties")
    error, told = max(found)
    if not error <= tolerance:
        raise CheckError(f"{name}: {told} (relative error {error:.1e}, allowed {tolerance:.1e})")
    return error


def _fitting_n(hypothesis: MapHypothesis) -> int:
    """Return the first number of decisions that the hypothesis accepts, not one if it can."""
    numbers: list[int] = [*range(2, 33), 1]
    for n in numbers:
        try:
            hypothesis.check(n)
        except UnsupportedError:
            continue
        return n
    raise CheckError(f"{hypothesis!r} accepts no number of decisions from 1 to 32")


def _random_block(rng: np.random.Generator, n: int, hidden: bool) -> Block:
    features = np.column_stack([np.ones(N_ROWS), rng.uniform(size=(N_ROWS, N_FEATURES - 1))])
    decisions = rng.normal(scale=2.0, size=(N_ROWS, n))
    if hidden:
        decisions[rng.uniform(size=decisions.shape) < 0.25] = np.nan
    costs = rng.normal(size=(N_ROWS, n))
    return Block(features, costs, decisions, rng.uniform(0.5, 2.0, size=N_ROWS))


def _differences(
    loss: Loss, hypothesis: MapHypothesis, block: Block, rng: np.random.Generator
) -> list[tuple[float, str]]:
    """Return errors of some entries of the gradient, relative to the largest slope, in words."""
    layout = hypothesis.layout(block.costs.shape[1], N_FEATURES)
    theta = rng.normal(size=layout.size)
    for name, part in layout.unpack(theta).items():
        if name == "alpha":
            part[...] = np.abs(part)
    value, gradient = loss.value_and_gradient(hypothesis, theta, block)
    largest = max(1.0, float(np.abs(gradient).max()))
    labels = [
        f"{name}{list(at)}" for name, shape in layout.shapes.items() for at in np.ndindex(shape)
    ]
    found = []
    for j in rng.permutation(layout.size)[:N_PARAMETERS]:
        slopes = []
        for step in STEPS:
            move = step * np.eye(layout.size)[j]
            after, before = (
                loss.value_and_gradient(hypothesis, theta + sign * move, block)[0]
                for sign in (1.0, -1.0)
            )
            right, left = (after - value) / step, (value - before) / step
            if abs(right - left) > KINK * max(1.0, abs(right), abs(left)):
                break
            slopes.append((right + left) / 2.0)
        if len(slopes) == len(STEPS):
            best = min(slopes, key=lambda slope: abs(slope - gradient[j]))
            error = float(abs(best - gradient[j]) / max(largest, abs(best)))
            told = f"the gradient in {labels[j]} is {gradient[j]:.6g}, but differences say"
            found.append((error, f"{told} {best:.6g}"))
    return found
