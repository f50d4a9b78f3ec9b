"""What a term lets the decision maker do, in words."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.hypotheses.term import account_of

NAMES = ["gas", "coal", "wind"]


@pytest.mark.parametrize(
    ("term", "scale", "said"),
    [
        (fl.Term(fl.Simplex(2), [0, 2]), 3.0, "can shift up to 3 between gas and wind"),
        (fl.Term(fl.Simplex(3)), 0.5, "can put 0.5 on any one of gas, coal and wind"),
        (fl.Term(fl.Simplex(3), [0, 1, 2], -1.0), 0.5, "can take 0.5 off any one of gas"),
        (fl.Term(fl.Hypersimplex(3, 2)), 2.0, "can put 2 on each of any 2 of gas, coal and wind"),
        (fl.Term(fl.Box(1, -1.0, 2.0), [1]), 2.0, "can raise coal by up to 6"),
        (fl.Term(fl.Box(1, 0.0, 1.0), [2], -1.0), 2.0, "can lower wind by up to 2"),
        (
            fl.Term(fl.Box(1, 0.0, 1.0), matrix=[[1.0], [-2.0], [0.0]]),
            2.0,
            "can move, up to all the way, gas by +2 and coal by -4",
        ),
        (
            fl.Term(fl.Box(2), [0, 1]),
            2.0,
            "can choose from Box(p=2, lower=-1.0, upper=1.0) times 2 on gas and coal",
        ),
    ],
)
def test_accounts(term: fl.Term, scale: float, said: str) -> None:
    assert account_of(term, scale, NAMES).startswith(said)


def test_only_terms_that_count_are_mentioned() -> None:
    model = fl.Minkowski([fl.Term(fl.Box(1), [j]) for j in range(3)], scale="constant")
    theta = np.zeros(model.layout(3, 1).size)
    blocks = model.layout(3, 1).unpack(theta)
    scales = next(block for name, block in blocks.items() if name != "offset")
    scales.reshape(-1)[:] = [1e3, 1e-2, 1e-4]
    lines = model.account(theta, np.ones(1), NAMES)
    assert [line.split()[2] for line in lines] == ["gas", "coal"]
