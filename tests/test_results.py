"""What a training run says about itself."""

from __future__ import annotations

import pytest

from feaslearn.results import TrainingResult


def result(**changes: object) -> TrainingResult:
    parts = {
        "status": "converged",
        "trainer": "Mine(a=1)",
        "objective": 0.25,
        "n_iter": 12,
        "seconds": 1.23456,
        **changes,
    }
    return TrainingResult(**parts)


def test_gap_is_the_distance_to_the_bound() -> None:
    assert result().gap is None
    assert result(lower_bound=0.2).gap == pytest.approx(0.05)
    assert result(lower_bound=0.25).gap == 0.0


def test_what_kind_of_optimum_it_is_follows_from_the_status_and_the_penalties() -> None:
    assert result(status="optimal").optimum == "global"
    assert result(status="optimal").is_global
    held = result(status="optimal", details={"ridge": 0.1, "sparsity": 0.0, "terms": 3.0})
    assert held.optimum == "global, of the loss with ridge"
    assert result().optimum.startswith("local")
    assert not result().is_global
    assert result(status="time limit").optimum.startswith("none")
    assert result(status="time limit", lower_bound=0.1).optimum.startswith("not proved")
