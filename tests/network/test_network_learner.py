"""Networks that are learned against all networks, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, NotFittedError
from network.cases import classes, four_nodes

POWER5 = {
    "nodes": 5,
    "generators": [1, 3, 5],
    "generator_capacity": 3.5,
    "line_capacity": 3.5,
    "cost": [0, 1, 2],
    "demand": range(3, 8),
}
LOSSES: list[Any] = ["predictability", "suboptimality", fl.Predictability(), fl.Suboptimality()]


def assert_same_as_enumeration(
    signals: np.ndarray, decisions: np.ndarray, arguments: dict[str, Any], **changes: Any
) -> fl.NetworkLearner:
    loss = changes.get("loss", "predictability")
    everything = fl.baselines.EnumeratedNetwork(**arguments, loss=loss).fit(signals, decisions)
    learner = fl.NetworkLearner(**arguments, **changes).fit(signals, decisions)
    size = np.abs(decisions).max()
    assert learner.result_.status == "optimal"
    assert learner.loss_ == pytest.approx(everything.loss_, abs=1e-6 * size)
    assert learner.bound_ == pytest.approx(everything.loss_, abs=1e-6 * size)
    assert learner.bound_ <= learner.loss_
    assert len(learner.lines_) == len(everything.lines_)
    assert learner.result_.details["lower bound on lines"] == len(learner.lines_)
    found = learner.identify()
    assert (found.certain, found.impossible, found.undetermined) == classes(everything)
    assert found.unknown == []
    assert found.n_networks == (len(everything.best_), len(everything.best_))
    return learner


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_integer_program_is_as_good_as_all_networks(loss: Any) -> None:
    signals, decisions, arguments = four_nodes(LOSSES.index(loss), noise=0.2)
    assert_same_as_enumeration(signals, decisions, arguments, loss=loss, solver="milp")


@pytest.mark.parametrize("same_capacity", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_cuts_find_all_networks_of_zero_loss(seed: int, same_capacity: bool) -> None:
    signals, decisions, arguments = four_nodes(seed, 30, same_capacity=same_capacity)
    learner = assert_same_as_enumeration(signals, decisions, arguments)
    assert learner.loss_ < 1e-9


def test_samples_are_added_as_they_are_needed() -> None:
    signals, decisions, arguments = four_nodes(1, 40)
    lazy = assert_same_as_enumeration(signals, decisions, arguments, solver="milp")
    eager = assert_same_as_enumeration(signals, decisions, arguments, solver="milp", lazy=False)
    assert lazy.result_.details["samples in the program"] < 25
    assert eager.result_.details["samples in the program"] == 40


def test_the_ring_has_644_equivalent_networks() -> None:
    data = fl.datasets.make_power5(n_samples=100, random_state=0)
    for solver in ("auto", "milp"):
        learner = fl.NetworkLearner(**POWER5, solver=solver).fit(data.signals, data.decisions)
        assert (learner.loss_, learner.bound_, len(learner.lines_)) == (0.0, 0.0, 4)
        found = learner.identify()
        assert found.n_networks == (644, 644)
        assert found.by_size[4] == 65
        assert min(found.by_size) == 4
        assert learner.identify("sparsest").n_networks == (65, 65)
        assert "equivalent networks  644" in repr(found)
        np.testing.assert_allclose(learner.predict(data.signals), data.decisions, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "milp", "enumeration"])
def test_known_and_forbidden_lines(solver: Any) -> None:
    data = fl.datasets.make_power5(n_samples=30, random_state=0)
    learner = fl.NetworkLearner(
        **POWER5, known_lines=[(2, 4)], forbidden_lines=[(1, 2), (3, 5)], solver=solver
    ).fit(data.signals, data.decisions)
    assert (2, 4) in learner.lines_
    assert (2, 4) in learner.identify().certain
    assert not {(1, 2), (3, 5)} & set(learner.candidate_lines_)
    assert learner.loss_ < 1e-9
    assert len(learner.lines_) == 4


def test_no_time_is_said() -> None:
    signals, decisions, arguments = four_nodes(0, 20, noise=0.2)
    learner = fl.NetworkLearner(**arguments, solver="milp", max_seconds=1e-9)
    learner.fit(signals, decisions)
    assert learner.result_.status == "time limit"
    assert learner.network_.all()
    fitted = fl.NetworkLearner(**arguments).fit(signals, decisions)
    fitted.solver, fitted.max_seconds = "milp", 1e-9
    fitted._search = fl.NetworkLearner(**arguments, solver="milp").fit(signals, decisions)._search
    found = fitted.identify()
    assert len(found.unknown) == 6
    assert found.certain == found.impossible == []
    assert "not decided in time" in repr(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solver": "mlp"}, "did you mean 'milp'"),
        ({"prefer": "densest"}, "prefer is 'densest'"),
        ({"max_seconds": 0}, "max_seconds=0 is neither"),
        ({"demand": None}, "demand is None, expected the signal that holds the demand"),
    ],
)
def test_bad_parameters_are_named(changes: dict[str, Any], message: str) -> None:
    data = fl.datasets.make_power5(n_samples=3, random_state=0)
    with pytest.raises(DataError, match=message):
        fl.NetworkLearner(**{**POWER5, **changes}).fit(data.signals, data.decisions)


def test_questions_come_after_the_fit() -> None:
    learner = fl.NetworkLearner(**POWER5)
    for question in (learner.identify, learner.loss_curve, learner.bootstrap, learner.next_signal):
        with pytest.raises(NotFittedError):
            question()
    data = fl.datasets.make_power5(n_samples=3, random_state=0)
    learner.fit(data.signals, data.decisions)
    with pytest.raises(DataError, match="among is 'all'"):
        learner.identify("all")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="n_draws=0"):
        learner.next_signal(n_draws=0)
    with pytest.raises(DataError, match="widen=-1"):
        learner.next_signal(widen=-1)
    with pytest.raises(DataError, match="n=0"):
        learner.bootstrap(0)


def test_networks_are_counted_while_there_is_time() -> None:
    data = fl.datasets.make_power5(n_samples=100, random_state=0)
    learner = fl.NetworkLearner(**POWER5).fit(data.signals, data.decisions)
    assert learner.identify().n_networks == (644, 644)
    learner.max_seconds = 1e-3
    low, high = learner.identify().n_networks
    assert low < 644 < high
