"""Networks that are learned by the integer program against all networks, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.exceptions import DataError
from feaslearn.paper.datasets import make_power5
from feaslearn.paper.network import LearnedNetwork, TransportNetwork, flow, learn_network
from feaslearn.paper.network.losses import NetworkLosses
from feaslearn.paper.problem import Clock, Data
from paper.small_networks import distance, four_nodes, least_cost

LOSSES = ("predictability", "suboptimality")
CANDIDATES = TransportNetwork(5, None, 3.5, (1, 3, 5), 3.5)


def assert_same_as_enumeration(
    data: Data, candidates: TransportNetwork, **options: Any
) -> tuple[LearnedNetwork, LearnedNetwork]:
    loss = options.get("loss", "predictability")
    every = learn_network(data, candidates, loss, solver="enumeration")
    found = learn_network(data, candidates, solver="milp", **options)
    assert found.status == every.status == "optimal"
    size = np.abs(data.decisions).max()
    assert found.loss == pytest.approx(every.loss, abs=1e-6 * size)
    assert found.bound == pytest.approx(every.loss, abs=1e-6 * size)
    assert found.bound <= found.loss
    assert len(found.lines) == len(every.lines) == found.n_lines_bound == every.n_lines_bound
    for kind in ("certain", "impossible", "undetermined", "unknown"):
        assert getattr(found, kind) == getattr(every, kind), kind
    assert sorted(every.certain + every.impossible + every.undetermined) == list(candidates.lines)
    return found, every


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(2))
def test_the_integer_program_is_as_good_as_all_networks(loss: str, seed: int) -> None:
    assert_same_as_enumeration(*four_nodes(seed, noise=0.2), loss=loss)


@pytest.mark.parametrize("same_capacity", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_networks_of_zero_loss(seed: int, same_capacity: bool) -> None:
    data, candidates = four_nodes(seed, 30, same_capacity=same_capacity)
    found, every = assert_same_as_enumeration(data, candidates)
    assert found.loss < 1e-9
    assert any((row == [line in data.truth.lines for line in candidates.lines]).all()
               for row in every.best)  # fmt: skip


def test_samples_are_added_as_they_are_needed() -> None:
    data, candidates = four_nodes(1, 40)
    losses = NetworkLosses(
        candidates, data.costs, data.signals[:, 3:], data.decisions, "predictability"
    )
    search = flow.FlowSearch(losses)
    assert search.least_loss(Clock()).value < 1e-9
    assert len(search.flows.samples) < 25
    lazy, _ = assert_same_as_enumeration(data, candidates)
    eager, _ = assert_same_as_enumeration(data, candidates, lazy=False)
    assert eager.n_iter <= lazy.n_iter


def test_the_ring_has_644_equivalent_networks() -> None:
    data = make_power5(100, random_state=0)
    for loss in LOSSES:
        every = learn_network(data, CANDIDATES, loss)
        assert (every.loss, every.bound, len(every.lines)) == (0.0, 0.0, 4)
        assert (len(every.networks), len(every.best), every.by_size[4]) == (1024, 644, 65)
        assert min(every.by_size) == 4
        assert every.certain == every.impossible == every.unknown == []
        found, _ = assert_same_as_enumeration(data, CANDIDATES, loss=loss)
        np.testing.assert_allclose(found.predict(data), data.decisions, atol=1e-9)


def test_lines_are_certain_where_they_bind() -> None:
    candidates = TransportNetwork(5, None, 1.5, (1, 3, 5), 3.5)
    found, every = assert_same_as_enumeration(
        make_power5(50, random_state=0, line_capacity=1.5), candidates
    )
    assert found.certain == [(1, 2), (2, 3), (4, 5)]
    assert len(every.best) < 644


def test_identification_can_be_left_out() -> None:
    data, candidates = four_nodes(1, 20)
    found = learn_network(data, candidates, solver="milp", identify=False)
    assert found.status == "optimal"
    assert found.unknown == list(candidates.lines)
    assert found.certain == found.impossible == found.undetermined == []


def test_demands_that_the_learned_network_cannot_serve_are_nan() -> None:
    data = make_power5(50, random_state=0)
    found = learn_network(data, CANDIDATES)
    signals = data.signals[:2].copy()
    signals[1, 3:] = 3.0
    answers = found.predict(Data(signals, data.decisions[:2], data.costs[:2]))
    assert np.isnan(answers).tolist() == [[False] * 3, [True] * 3]


@pytest.mark.parametrize("solver", ["milp", "enumeration"])
def test_no_time_is_said(solver: Any) -> None:
    data, candidates = four_nodes(0, 20, noise=0.2)
    found = learn_network(data, candidates, solver=solver, max_seconds=1e-9)
    assert found.status == "time limit"
    assert found.network.all()
    assert np.isfinite(found.loss)
    assert found.bound <= found.loss
    assert found.n_lines_bound == 0
    assert found.unknown == list(candidates.lines)


@pytest.mark.parametrize(("solver", "calls"), [("milp", 5), ("enumeration", 1)])
def test_ctrl_c_returns_the_best_so_far(
    solver: Any, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, candidates = four_nodes(0, 20, noise=0.2)
    whole, of, left = learn_network(data, candidates, solver=solver), NetworkLosses.of, [calls]

    def interrupted(self: NetworkLosses, networks: np.ndarray) -> np.ndarray:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return of(self, networks)

    monkeypatch.setattr(NetworkLosses, "of", interrupted)
    found = learn_network(data, candidates, solver=solver)
    assert found.status == "interrupted"
    assert whole.loss <= found.loss < np.inf
    assert found.bound <= whole.loss
    assert found.certain == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "mlp"}, "solver is 'mlp', expected one of"),
        ({"loss": "squared"}, "loss is 'squared'"),
        ({"max_seconds": 0}, "max_seconds is 0"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        learn_network(make_power5(3, random_state=0), CANDIDATES, **options)


def test_bad_data_are_named() -> None:
    data = make_power5(5, random_state=0)
    signals, decisions = data.signals.copy(), data.decisions.copy()
    signals[3, 3:] = 9.0
    with pytest.raises(DataError, match="no network serves the demand of sample 3,"):
        learn_network(Data(signals, decisions, data.costs), CANDIDATES)
    signals[3, 4] = -0.25
    with pytest.raises(DataError, match="a demand must be at least 0"):
        learn_network(Data(signals, decisions, data.costs), CANDIDATES)
    decisions[4, 1] = np.nan
    with pytest.raises(DataError, match="some were not observed"):
        learn_network(Data(data.signals, decisions, data.costs), CANDIDATES)
    with pytest.raises(DataError, match="2 columns for 3 plants"):
        learn_network(Data(data.signals, data.decisions[:, :2], data.costs[:, :2]), CANDIDATES)
    many = TransportNetwork(8, None, 3.5, (1, 3, 5), 3.5)
    with pytest.raises(DataError, match="serves up to 20 candidate lines, there are 28"):
        learn_network(data, many, solver="enumeration")


@given(seed=st.integers(0, 2**32 - 1), n_nodes=st.integers(1, 5), n_plants=st.integers(1, 4))
def test_losses_equal_those_of_the_linear_program(seed: int, n_nodes: int, n_plants: int) -> None:
    rng = np.random.default_rng(seed)
    n_lines = n_nodes * (n_nodes - 1) // 2
    candidates = TransportNetwork(
        n_nodes,
        None,
        rng.choice([0.0, 0.5, 1.0, 2.0], size=n_lines),
        rng.integers(1, n_nodes + 1, size=n_plants).tolist(),
        rng.choice([1.0, 2.5, 4.0], size=n_plants),
    )
    prices = rng.choice([-1.0, 0.5, 0.5, 1.0, 2.0], size=(3, n_plants))
    demands = rng.uniform(0.0, 0.6, size=(3, n_nodes))
    decisions = rng.normal(1.0, 1.0, (3, n_plants))
    networks = rng.random((2, n_lines)) < 0.7
    near, cheap = (
        NetworkLosses(candidates, prices, demands, decisions, loss).of(networks) for loss in LOSSES
    )
    unit = prices / np.linalg.norm(prices, axis=1, keepdims=True)
    for r, chosen in enumerate(networks):
        network = TransportNetwork(
            n_nodes,
            [candidates.lines[line] for line in np.flatnonzero(chosen)],
            candidates.line_capacity[chosen],
            candidates.plants,
            candidates.generator_capacity,
        )
        for i, (x, d, c) in enumerate(zip(decisions, demands, unit, strict=True)):
            least = least_cost(network, d, c)
            if least is None:
                assert near[r, i] == cheap[r, i] == np.inf
                continue
            assert near[r, i] == pytest.approx(distance(network, x, d, c, "l1"), abs=1e-5)
            expected = distance(network, x, d, norm="l1") + max(0.0, c @ x - least)
            assert cheap[r, i] == pytest.approx(expected, abs=1e-5)
