"""Whether any region of a class explains data: yes with a region, no with samples that show it."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from common.consistent_data import corrupted, drawn
from feaslearn.exceptions import DataError, MissingExtraError, NotFittedError
from feaslearn.regressor.verdict import Verdict
from feaslearn.trainers import global_search


def with_decisions(data: fl.Decisions, decisions: np.ndarray) -> fl.Decisions:
    return fl.Decisions.from_arrays(data.signals, decisions, cost=data.cost)


@pytest.mark.parametrize("seed", range(2))
def test_data_of_the_class_are_accepted_with_a_region_that_explains_them(seed: int) -> None:
    hypothesis, data = drawn(seed)
    answer = fl.consistency(data, hypothesis)
    assert answer
    assert answer.consistent is True
    predicted = answer.model.predict(data.signals)
    assert np.abs(predicted - data.decisions).max() <= answer.tolerance
    assert answer.region(data.signals[0]).distance(data.decisions[0]) <= answer.tolerance
    assert answer.contradiction == answer.suspects == ()


@pytest.mark.parametrize("seed", range(2))
def test_one_wrong_sample_is_named_and_the_contradiction_is_irreducible(seed: int) -> None:
    hypothesis, data = drawn(seed)
    changed, wrong = corrupted(data, seed)
    answer = fl.consistency(changed, hypothesis)
    assert not answer
    assert answer.consistent is False
    assert answer.suspects == (wrong,)
    core = list(answer.contradiction)
    assert wrong in core
    assert not fl.consistency(changed[core], hypothesis)
    for sample in core:
        assert fl.consistency(changed[[other for other in core if other != sample]], hypothesis)
    # The least loss is that of least squares, and no region does better.
    assert answer.loss == pytest.approx(answer.lower_bound)
    assert answer.loss > 0.0
    assert f"without sample {wrong}" in str(answer)
    assert "<table>" in answer._repr_html_()


def test_noise_everywhere_blames_nobody_unless_the_tolerance_covers_it() -> None:
    hypothesis, data = drawn(1)
    noise = np.random.default_rng(0).uniform(-0.01, 0.01, data.decisions.shape)
    noisy = with_decisions(data, data.decisions + noise)
    answer = fl.consistency(noisy, hypothesis)
    assert answer.consistent is False
    assert answer.suspects == ()
    unit = float(np.ptp(noisy.decisions, axis=0).max())
    wide = fl.consistency(noisy, hypothesis, tolerance=0.01 / unit)
    assert wide
    assert wide.largest_error <= 0.01 * (1.0 + 1e-6)
    # Least squares alone does not stay within the noise; the linear program does.
    narrow = fl.consistency(noisy, hypothesis, tolerance=0.0099 / unit)
    assert narrow.consistent in (True, False)
    if narrow:
        assert narrow.largest_error <= 0.0099 * (1.0 + 1e-6)


def test_ties_are_explained_by_any_of_their_minimisers() -> None:
    costs = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])
    decisions = np.array([[0.3, 0.7], [1.0, 0.0], [0.0, 1.0], [0.8, 0.2]])
    data = fl.Decisions.from_arrays(costs, decisions, cost=[0, 1])
    assert fl.consistency(data, fl.Scaled(fl.Simplex(2)))
    decisions[3] = [0.8, 0.4]
    answer = fl.consistency(with_decisions(data, decisions), fl.Scaled(fl.Simplex(2)))
    assert answer.consistent is False
    assert 3 in answer.contradiction


def test_unobserved_decisions_and_maximisation_and_frames() -> None:
    pd = pytest.importorskip("pandas")
    hypothesis, data = drawn(2)
    decisions = data.decisions.copy()
    decisions[4] = np.nan
    decisions[6, 1] = np.nan
    decisions[9] += [1.0, 0.5, -0.5]
    X, y = pd.DataFrame(-data.signals), pd.DataFrame(decisions)
    X.columns = [f"s{j}" for j in X]
    answer = fl.consistency((X, y), hypothesis, cost=["s0", "s1", "s2"], sense="max")
    assert answer.suspects == (9,)
    assert answer.n_samples == len(data) - 1


def test_facets_are_refused_by_a_cheaper_mixture_and_accepted_with_a_region() -> None:
    data = fl.datasets.make_power5(60, random_state=0)
    answer = fl.consistency(data, fl.Facets())
    assert answer
    assert np.abs(answer.model.predict(data.signals) - data.decisions).max() < 1e-6
    decisions = data.decisions.copy()
    dearest = data.cost_matrix[5].argmax()
    decisions[5] += 0.3
    decisions[5, dearest] -= 0.9
    wrong = fl.consistency(with_decisions(data, decisions), fl.Facets())
    assert wrong.consistent is False
    assert wrong.suspects == (5,)
    # The certificate, checked by hand: the samples named have a mixture that is cheaper.
    assert not fl.consistency(
        with_decisions(data, decisions)[list(wrong.contradiction)], fl.Facets()
    )


@pytest.mark.parametrize(
    ("of", "unit"), [("decisions", 1e-9), ("decisions", 1e5), ("signals", 1e9), ("costs", 1e-7)]
)
def test_whether_facets_explain_data_does_not_depend_on_units(of: str, unit: float) -> None:
    data = fl.datasets.make_power5(40, random_state=0)
    signals = np.array(data.signals)
    signals[:, 3:] *= unit if of == "signals" else 1.0
    signals[:, :3] *= unit if of == "costs" else 1.0
    size = unit if of == "decisions" else 1.0
    wrong = data.decisions.copy()
    wrong[5] += 0.3
    wrong[5, data.cost_matrix[5].argmax()] -= 0.9
    for decisions in (data.decisions, wrong):
        expected = fl.consistency(with_decisions(data, decisions), fl.Facets())
        answer = fl.consistency((signals, size * decisions), fl.Facets(), cost=[0, 1, 2])
        assert answer.consistent is expected.consistent
        assert answer.contradiction == expected.contradiction
        assert answer.suspects == expected.suspects
        assert answer.tolerance == pytest.approx(size * expected.tolerance)


def test_facets_with_given_bounds_or_balance_name_who_breaks_them() -> None:
    data = fl.datasets.make_power5(60, random_state=0)
    narrow = fl.consistency(data, fl.Facets(bounds=(0.0, 3.4)))
    assert narrow.consistent is False
    assert "outside the bounds" in narrow.reason
    decisions = data.decisions.copy()
    decisions[8, 0] += 0.25
    answer = fl.consistency(with_decisions(data, decisions), fl.Facets(balance=[[1.0, 1, 1]]))
    assert answer.suspects == (8,)
    assert "balance" in answer.reason


def test_the_same_features_and_a_cheaper_decision_refute_every_class() -> None:
    data = fl.datasets.make_switch(20, random_state=0)
    decisions = data.decisions.copy()
    decisions[3] = [0.5, 0.6]
    answer = fl.consistency(with_decisions(data, decisions), fl.Affine(fl.Simplex(3)))
    assert answer.consistent is False
    assert 3 in answer.contradiction
    assert len(answer.contradiction) == 2


def random_pairs(count: int) -> fl.Decisions:
    rng = np.random.default_rng(0)
    signals = np.hstack([rng.uniform(0, 1, (count, 2)), rng.uniform(1, 2, (count, 1))])
    return fl.Decisions.from_arrays(signals, rng.normal(size=(count, 2)), cost=[0, 1])


@pytest.mark.parametrize(
    "hypothesis", [fl.Affine(fl.Simplex(2, binary=True)), fl.Ternary(fl.Box(1))]
)
def test_integer_classes_are_refuted_by_their_bound(hypothesis: fl.hypotheses.Hypothesis) -> None:
    data = random_pairs(8)
    answer = fl.consistency(data, hypothesis, max_seconds=30.0)
    assert answer.consistent is False
    assert 0.0 < answer.lower_bound <= answer.loss + 1e-12
    assert answer.irreducible
    assert len(answer.contradiction) < len(data)


def test_without_a_proof_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise MissingExtraError("SCIP", "scip")

    monkeypatch.setattr(global_search, "make_solver", missing)
    answer = fl.consistency(random_pairs(8), fl.Affine(fl.Simplex(2)), max_seconds=5.0)
    assert answer.consistent is None
    assert not answer
    assert "SCIP" in answer.reason
    assert "not decided" in str(answer)
    assert answer.model is not None


def test_bad_input_is_said_all_together() -> None:
    hypothesis, data = drawn(0)
    with pytest.raises(DataError, match="pair"):
        fl.consistency(data.signals, hypothesis)
    with pytest.raises(DataError, match=r"hypothesis=None(.|\n)*no cost(.|\n)*tolerance=-1"):
        fl.consistency((data.signals, data.decisions), None, tolerance=-1)
    with pytest.raises(DataError, match="rows"):
        fl.consistency((data.signals[1:], data.decisions), hypothesis, cost=[0, 1, 2])
    empty = Verdict(None, "no time", hypothesis, 3, 0.1, 0.1)
    with pytest.raises(NotFittedError):
        empty.region(data.signals[0])


@pytest.mark.parametrize(("excess", "dearer"), [(1.5, False), (3.0, True)])
def test_a_mixture_is_cheaper_from_twice_the_error_on(excess: float, dearer: bool) -> None:
    """Between two decisions that may each be off by the error lies twice the error."""
    error = 1e-6
    signals = np.column_stack([np.ones(3), [0.0, 1.0, 0.5]])
    decisions = np.array([[0.0], [1.0], [0.5 + excess * error]])
    answer = fl.consistency((signals, decisions), fl.Facets(), cost=[0], tolerance=error)
    assert (answer.consistent is False) == dearer
    assert answer.contradiction == ((0, 1, 2) if dearer else ())
