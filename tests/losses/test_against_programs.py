"""The fast losses against the paper's programs, set by set, loss by loss, norm by norm."""

from __future__ import annotations

import numpy as np
import pytest
from loss_registry import (
    CASES,
    HYPOTHESES,
    KINDS,
    LOSSES,
    NORMS,
    VARIATIONS,
    Sample,
    make_loss,
    sample,
)

from feaslearn.formulations import losses_by_program
from feaslearn.losses import Loss

#: rows, tied, share of unobserved decisions
MANY = ((5, False, 0.0), (3, False, 0.3), (5, True, 0.0), (3, True, 0.3))
FEW = ((2, False, 0.0), (2, False, 0.3), (3, True, 0.0), (2, True, 0.3))


def assert_equal_to_program(loss: Loss, case: Sample) -> None:
    fast, slow = loss.samples(*case), losses_by_program(loss, *case)
    difference = np.abs(fast - slow) / np.maximum(1.0, np.abs(slow))
    worst = int(np.argmax(difference))
    assert difference[worst] <= 1e-6, f"row {worst}: {fast[worst]} and {slow[worst]}"


@pytest.mark.parametrize(("name", "loss", "norm"), CASES)
def test_many_rows_of_every_kind_of_set(name: str, loss: str, norm: str) -> None:
    # Of two norms that follow each other, one with all decisions and one with gaps.
    for seed in (0, 2) if CASES.index((name, loss, norm)) % 2 else (1, 3):
        rows, tied, hidden = MANY[seed]
        case = sample(name, rows=rows, seed=seed, tied=tied, hidden=hidden)
        assert_equal_to_program(make_loss(loss, norm), case)


@pytest.mark.parametrize("name", VARIATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_few_rows_of_every_other_set(name: str, loss: str) -> None:
    # Each of its rows in another norm, another one for each set and loss.
    norms = ["l2", "l1", "linf"]
    first = (VARIATIONS.index(name) + list(LOSSES).index(loss)) % 3
    for seed, (rows, tied, hidden) in enumerate(FEW):
        case = sample(name, rows=rows, seed=seed, tied=tied, hidden=hidden, n=2)
        assert_equal_to_program(make_loss(loss, norms[(first + seed) % 3]), case)


@pytest.mark.parametrize("name", HYPOTHESES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("norm", NORMS)
def test_a_few_rows_of_other_hypotheses(name: str, loss: str, norm: str) -> None:
    for seed in (0, 3) if norm in ("l2", "linf") else (1, 2):
        rows, tied, hidden = FEW[seed]
        case = sample(name, rows=rows, seed=seed, tied=tied, hidden=hidden)
        theta = case.theta
        if name.startswith("scaled"):
            # A negative scale is no scale, and no trainer gives one.
            theta = np.concatenate([np.abs(theta[:1]), theta[1:]])
        assert_equal_to_program(make_loss(loss, norm), case._replace(theta=theta))


@pytest.mark.parametrize("name", KINDS)
def test_raw_costs(name: str) -> None:
    case = sample(name, rows=4, seed=5)
    case = case._replace(block=case.block._replace(costs=3.0 * case.block.costs))
    assert_equal_to_program(make_loss("suboptimality", "squared-l2", normalize_cost=False), case)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "l2-ball-3"])
def test_the_tied_rows_tie(name: str) -> None:
    """Rows made to tie do tie, and not only those with a zero cost."""
    case = sample(name, rows=24, seed=2, tied=True)
    tied = make_loss("predictability", "squared-l2").rows(*case).tied
    assert tied[~case.block.costs.any(axis=1)].all()
    if name != "conic-half-disc":
        assert tied[case.block.costs.any(axis=1)].any()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_with_nothing_observed(loss: str, norm: str) -> None:
    """Nothing is known of the decision, so it may be the optimal one."""
    case = sample("box-vector-limits", rows=4, seed=0, hidden=1.0)
    assert make_loss(loss, norm).samples(*case) == pytest.approx(np.zeros(4), abs=1e-6)
