"""The program with large constants, and the branch and bound without them: one optimum."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.formulations.program import load_cvxpy, solve
from feaslearn.losses import Objective
from feaslearn.trainers import MixedInteger

SETS = {
    "simplex": fl.Simplex(3, binary=True),
    "cube": fl.Polytope(np.vstack([np.eye(2), -np.eye(2)]), [0.0, 0.0, -1.0, -1.0], binary=True),
}


def least_binary_loss(primitive: fl.Simplex | fl.Polytope, block: Block, norm: str) -> float:
    r"""Return the least training loss of predictability for binary latent points.

    .. math::
        \min \sum_i w_i \|e_i\| \quad \text{s.t.} \quad
        & v_{im} = A(s_i) w_m + b(s_i), \quad l \le v_{im} \le u, \quad
          y_{im} \in \{0, 1\}, \quad \textstyle\sum_m y_{im} = 1, \\
        & |x_i - v_{im}| \le e_i + (u - l)(1 - y_{im}), \\
        & c_i'v_{im} \le c_i'v_{ij} + |c_i|'(u - l) (1 - y_{im}) \quad \forall j

    The box from l to u is that of the decisions, widened on each side by its width. The last row
    makes the chosen point optimal: an inequality, where the paper prints an equation.
    """
    cp = load_cvxpy()
    points, (N, n), k = primitive.vertices(), block.decisions.shape, block.features.shape[1]
    low, high = block.decisions.min(axis=0), block.decisions.max(axis=0)
    low, high = 2.0 * low - high, 2.0 * high - low
    maps = [cp.Variable((n, points.shape[1])) for _ in range(k)]
    offset = cp.Variable((n, k))
    taken, errors = cp.Variable((N, len(points)), boolean=True), cp.Variable((N, n), nonneg=True)
    rows = [cp.sum(taken, axis=1) == 1]
    for i, (phi, c, x, _) in enumerate(zip(*block, strict=True)):
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
    problem = cp.Problem(cp.Minimize(block.weights @ sizes), rows)
    with np.errstate(invalid="ignore"):
        # CVXPY multiplies the bounds of unknowns without any by zero on its way.
        solve(problem, "binary latent", (("HIGHS", {"threads": 1, "mip_rel_gap": 1e-7}),))
    return float(problem.value)


def samples(rows: int = 5) -> Block:
    data = fl.datasets.make_l1_ball(rows, n=2, low=-1.0, noise=0.2, random_state=4)
    return Block(np.ones((rows, 1)), data.cost_matrix, data.decisions, np.full(rows, 1 / rows))


@pytest.mark.parametrize(
    ("primitive", "norm"),
    [
        ("simplex", "l1"),
        *(
            pytest.param(*case, marks=pytest.mark.soak)
            for case in (("simplex", "linf"), ("cube", "l1"), ("cube", "linf"))
        ),
    ],
)
def test_both_programs_have_one_optimum(primitive: str, norm: str) -> None:
    whole = samples()
    problem = Objective(fl.Predictability(norm), fl.Affine(SETS[primitive]), Samples.of(whole))
    result = MixedInteger(tol=1e-6).train(problem, np.random.default_rng(0)).result
    assert result.status == "optimal"
    assert result.objective == pytest.approx(
        least_binary_loss(SETS[primitive], whole, norm), abs=2e-5
    )
