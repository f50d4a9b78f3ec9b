"""A loss evaluated row by row through the paper's programs: the second implementation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import UnsupportedError
from feaslearn.formulations.predictability import PredictabilityProgram
from feaslearn.formulations.suboptimality import SuboptimalityProgram
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.losses import Loss, Predictability, Suboptimality
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]


def losses_by_program(loss: Loss, hypothesis: MapHypothesis, theta: Array, shard: Shard) -> Array:
    """Return the loss of every row of a shard, each by its own convex program.

    Slow (milliseconds a row) and obviously right: what the fast losses are held against.

    Parameters
    ----------
    loss : Predictability or Suboptimality
        Says the program, its norm and what is done with the costs.
    hypothesis : Hypothesis
        Class of regions.
    theta : ndarray
        Parameters.
    shard : Shard
        The samples; weights are not used.

    Returns
    -------
    ndarray of shape (N,)
        Losses.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Affine, Predictability, Simplex
    >>> from feaslearn.data import Shard
    >>> from feaslearn.formulations import losses_by_program
    >>> shard = Shard(np.ones((1, 1)), np.array([[0.2, 0.8]]), np.array([[0.0, 1.0]]), np.ones(1))
    >>> losses_by_program(Predictability(), Affine(Simplex(2)), np.eye(2).ravel(), shard).round(6)
    array([2.])
    """
    n, costs = shard.decisions.shape[1], shard.costs
    if isinstance(loss, Suboptimality) and loss.normalize_cost:
        lengths = np.linalg.norm(costs, axis=1, keepdims=True)
        costs = np.divide(costs, lengths, out=np.zeros_like(costs), where=lengths > 0.0)
    values, program, compiled = np.empty(len(costs)), None, None
    for i, phi in enumerate(shard.features):
        image = hypothesis.image(theta, phi, n)
        if program is None or image.primitive is not compiled:
            program, compiled = _program(loss, image.primitive, n), image.primitive
        values[i] = program.solve(image.matrix, image.offset, costs[i], shard.decisions[i]).value
    return values


def _program(
    loss: Loss, primitive: PrimitiveSet, n: int
) -> PredictabilityProgram | SuboptimalityProgram:
    """State the program of a loss over a set."""
    if isinstance(loss, Predictability):
        return PredictabilityProgram(primitive, n, loss.norm, loss.squared)
    if isinstance(loss, Suboptimality):
        return SuboptimalityProgram(primitive, n, loss.norm, loss.squared)
    raise UnsupportedError(
        f"{type(loss).__name__} has no program here; Predictability and Suboptimality have"
    )
