"""The losses of networks against the linear programs they must equal."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from feaslearn import Predictability, Suboptimality
from feaslearn.datasets import TransportNetwork
from feaslearn.exceptions import Problems
from feaslearn.losses.loss import Loss
from feaslearn.network.candidates import CandidateLines, read_candidates
from feaslearn.network.losses import NetworkLosses, resolve_network_loss
from feaslearn.network.samples import NetworkSamples


def random_case(seed: int, n_nodes: int, n_plants: int) -> tuple[CandidateLines, NetworkSamples]:
    """Capacities that bind, prices that tie in some samples, decisions that nothing explains."""
    rng = np.random.default_rng(seed)
    pairs = n_nodes * (n_nodes - 1) // 2
    problems = Problems()
    candidates = read_candidates(
        problems,
        n_nodes,
        rng.integers(1, n_nodes + 1, size=n_plants).tolist(),
        rng.choice([1.0, 2.5, 4.0], size=n_plants),
        rng.choice([0.0, 0.5, 1.0, 2.0], size=pairs),
        None,
        (),
        (),
    )
    assert candidates is not None
    prices = rng.choice([-1.0, 0.5, 0.5, 1.0, 2.0], size=(6, n_plants))
    demands = rng.uniform(0.0, 0.6, size=(6, n_nodes))
    return candidates, NetworkSamples(prices, demands, rng.normal(1.0, 1.0, (6, n_plants)))


@given(seed=st.integers(0, 2**32 - 1), n_nodes=st.integers(1, 5), n_plants=st.integers(1, 4))
def test_losses_equal_those_of_the_linear_program(seed: int, n_nodes: int, n_plants: int) -> None:
    candidates, samples = random_case(seed, n_nodes, n_plants)
    networks = np.random.default_rng(seed + 1).random((4, len(candidates.lines))) < 0.7
    for network, found in zip(
        networks, NetworkLosses(candidates, samples, Predictability("l1")).of(networks), strict=True
    ):
        served = np.isfinite(found)
        if not served.any():
            continue
        part = NetworkSamples(*(table[served] for table in samples))
        program = TransportNetwork(
            n_nodes,
            [candidates.lines[line] for line in np.flatnonzero(network)],
            candidates.line_capacity[network],
            (candidates.plants + 1).tolist(),
            candidates.generator_capacity,
        ).linear_program()

        def mean(loss: Loss, part: NetworkSamples = part, network=network) -> np.ndarray:
            return NetworkLosses(candidates, part, loss).of(network[None])[0]

        to_optimal = [
            program.distance_to_optimal(part.decisions, part.demands, part.costs, norm)
            for norm in ("l1", "l2")
        ]
        np.testing.assert_allclose(mean(Predictability("l1")), to_optimal[0], atol=1e-6)
        np.testing.assert_allclose(mean(Predictability()), to_optimal[1] ** 2, atol=1e-5)
        excess = (part.costs * part.decisions).sum(axis=1)
        excess = np.maximum(0.0, excess - program.optimal_value(part.demands, part.costs))
        to_feasible = [
            program.distance_to_feasible(part.decisions, part.demands, norm)
            for norm in ("l1", "l2")
        ]
        np.testing.assert_allclose(
            mean(Suboptimality("l1", normalize_cost=False)), to_feasible[0] + excess, atol=1e-6
        )
        np.testing.assert_allclose(
            mean(Suboptimality(normalize_cost=False)), to_feasible[1] ** 2 + excess**2, atol=1e-5
        )


def test_a_loss_is_one_of_two_norms() -> None:
    problems = Problems()
    loss = resolve_network_loss(problems, "suboptimality")
    assert isinstance(loss, Suboptimality)
    assert loss.norm == "l1"
    for right in (Predictability(), Suboptimality("l1")):
        assert resolve_network_loss(problems, right) is right
    for wrong in ("predictabilty", 3, Predictability("linf"), Predictability("l7")):  # type: ignore[arg-type]
        assert resolve_network_loss(problems, wrong) is None
    assert len(problems) == 4
    assert "did you mean 'predictability'" in problems.messages[0]
