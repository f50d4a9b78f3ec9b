"""The check of a user's hypothesis finds what is wrong, and nothing where all is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.checks import check_hypothesis
from feaslearn.exceptions import CheckError
from feaslearn.hypotheses import Hypothesis, Layout
from feaslearn.region import RegionForm


class Budget(Hypothesis):
    """Decisions up to limits within a budget: rows alone, no closed form."""

    def layout(self, n: int, k: int) -> Layout:
        return Layout({"limits": (n,), "budget": (k,)})

    def describe(self, theta: Any, n: int, k: int) -> RegionForm:
        blocks = self.layout(n, k).unpack(theta)
        rows = np.vstack([-np.eye(n), np.eye(n), np.ones(n)])
        right = np.zeros((k, len(rows)))
        right[0, n : 2 * n] = blocks["limits"]
        right[:, 2 * n] = blocks["budget"]
        return RegionForm.of_rows(rows, right)


class WithoutTies(Budget):
    def tied(self, theta: Any, features: Any, costs: Any) -> Any:
        return np.zeros(len(costs), dtype=bool)


class Outside(Budget):
    def solve(self, theta: Any, features: Any, costs: Any, ties: Any = "first") -> Any:
        solved = super().solve(theta, features, costs, ties)
        return solved._replace(decisions=solved.decisions - 9.0 * (costs == 0.0))


class OneFeature(Budget):
    def describe(self, theta: Any, n: int, k: int) -> RegionForm:
        return super().describe(theta[: n + 1], n, 1)


@pytest.mark.parametrize(
    "hypothesis",
    [Budget(), fl.Affine(fl.Simplex(4)), fl.Affine(fl.L2Ball(2)), fl.Minkowski.pairs(3)],
    ids=repr,
)
def test_nothing_is_wrong_with(hypothesis: Hypothesis) -> None:
    n = 3 if isinstance(hypothesis, fl.Minkowski) else 2
    check_hypothesis(hypothesis, n)


@pytest.mark.parametrize(
    ("hypothesis", "violated"),
    [
        (WithoutTies(), "ties are noticed"),
        (Outside(), "decisions lie in the region"),
        (OneFeature(), "rows fit together"),
    ],
    ids=repr,
)
def test_what_is_wrong_is_named(hypothesis: Hypothesis, violated: str) -> None:
    with pytest.raises(CheckError, match=violated):
        check_hypothesis(hypothesis)
