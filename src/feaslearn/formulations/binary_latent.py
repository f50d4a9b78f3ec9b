r"""The training program of a binary latent set, with large constants, as it is usually written.

.. math::
    \min \sum_i w_i \|e_i\| \quad \text{s.t.} \quad
    & v_{im} = A(s_i) w_m + b(s_i), \quad l \le v_{im} \le u, \quad
      y_{im} \in \{0, 1\}, \quad \textstyle\sum_m y_{im} = 1, \\
    & |x_i - v_{im}| \le e_i + (u - l)(1 - y_{im}), \\
    & c_i'v_{im} \le c_i'v_{ij} + |c_i|'(u - l) (1 - y_{im}) \quad \forall j

The last row is what makes the chosen point optimal: an inequality, where the paper prints an
equation. `MixedInteger` solves the same problem without large constants; this is its second, slow
implementation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.formulations.program import Attempts, load_cvxpy, solve
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]

HIGHS: Attempts = (("HIGHS", {"threads": 1, "mip_rel_gap": 1e-7}),)


def least_binary_loss(
    primitive: PrimitiveSet, shard: Shard, norm: str = "l1", margin: float = 1.0
) -> float:
    """Return the least training loss of predictability for binary latent points.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set; its vertices are the points, whether it is binary or not.
    shard : Shard
        The samples; every decision observed.
    norm : {"l1", "linf"}, default="l1"
        Norm of the distances.
    margin : float, default=1.0
        Predictions stay in the box of the decisions, widened on each side by this share of its
        width.

    Returns
    -------
    float
        The optimum over regions in that box.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.data import Shard
    >>> from feaslearn.formulations import least_binary_loss
    >>> costs, decisions = np.array([[1.0], [-1.0], [-1.0]]), np.array([[0.0], [2.0], [3.0]])
    >>> shard = Shard(np.ones((3, 1)), costs, decisions, np.full(3, 1 / 3))
    >>> round(least_binary_loss(Simplex(2, binary=True), shard), 6)
    0.333333
    """
    if norm not in ("l1", "linf"):
        raise UnsupportedError(f"norm={norm!r} is not linear; use 'l1' or 'linf'")
    if np.isnan(shard.decisions).any():
        raise DataError("least_binary_loss needs every decision observed")
    cp = load_cvxpy()
    points, (N, n), k = primitive.vertices(), shard.decisions.shape, shard.features.shape[1]
    low, high = shard.decisions.min(axis=0), shard.decisions.max(axis=0)
    low, high = low - margin * (high - low), high + margin * (high - low)
    maps = [cp.Variable((n, points.shape[1])) for _ in range(k)]
    offset = cp.Variable((n, k))
    taken, errors = cp.Variable((N, len(points)), boolean=True), cp.Variable((N, n), nonneg=True)
    rows = [cp.sum(taken, axis=1) == 1]
    for i, (phi, c, x, _) in enumerate(zip(*shard, strict=True)):
        A = sum(phi[j] * maps[j] for j in range(k))
        images = [A @ w + offset @ phi for w in points]
        for m, image in enumerate(images):
            free = 1 - taken[i, m]
            rows += [image >= low, image <= high]
            rows.append(cp.abs(image - x) <= errors[i] + (high - low) * free)
            rows += [
                c @ image <= c @ other + float(np.abs(c) @ (high - low)) * free
                for j, other in enumerate(images)
                if j != m
            ]
    sizes = cp.sum(errors, axis=1) if norm == "l1" else cp.max(errors, axis=1)
    problem = cp.Problem(cp.Minimize(shard.weights @ sizes), rows)
    with np.errstate(invalid="ignore"):
        # CVXPY multiplies the bounds of unknowns without any by zero on its way.
        solve(problem, "binary latent", HIGHS)
    return float(problem.value)
