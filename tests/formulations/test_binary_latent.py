"""The program with large constants, and the branch and bound without them: one optimum."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.formulations import least_binary_loss
from feaslearn.losses import Objective
from feaslearn.trainers import MixedInteger

SETS = {
    "simplex": fl.Simplex(3, binary=True),
    "cube": fl.Polytope(np.vstack([np.eye(2), -np.eye(2)]), [0.0, 0.0, -1.0, -1.0], binary=True),
}


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


def test_bad_input() -> None:
    whole = samples()
    with pytest.raises(UnsupportedError, match="is not linear"):
        least_binary_loss(SETS["simplex"], whole, "l2")
    hidden = np.where(np.arange(2) == 0, np.nan, whole.decisions)
    with pytest.raises(DataError, match="every decision observed"):
        least_binary_loss(SETS["simplex"], whole._replace(decisions=hidden))
