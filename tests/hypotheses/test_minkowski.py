"""Minkowski sums: decisions, ties, regions and words, against the product of the terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.hypotheses import term_minimizers
from feaslearn.hypotheses.minkowski import automatic
from feaslearn.hypotheses.scale_basis import ScaleBasis, best_explained, index_direction
from feaslearn.hypotheses.term import account_of
from feaslearn.hypotheses.term_minimizers import FEW_ENTRIES, smallest_entries
from registry import generators, half_disc

SCALES = ("affine", "constant", "index")


def mixed(scale: str = "affine", offset: bool = True) -> fl.Minkowski:
    """Return terms of every kind on three decisions."""
    terms = [
        fl.Term(fl.Hypersimplex(3, 2)),
        fl.Term(fl.Simplex(2), [0, 2]),
        fl.Term(fl.Simplex(2), [1, 2], -1.0),
        fl.Term(fl.Simplex(2), [0, 1], [2.0, 0.5]),
        fl.Term(fl.Box(1, 0.0, 1.0), matrix=[[1.0], [-1.0], [0.0]]),
        fl.Term(fl.L2Ball(2), matrix=[[1.0, 0.0], [0.5, 1.0], [0.0, -1.0]]),
        fl.Term(fl.L1Ball(3)),
        fl.Term(half_disc(), [0, 1]),
    ]
    return fl.Minkowski(terms, scale=scale, offset=offset, n_knots=3)


def case(
    model: fl.Minkowski, rng: np.random.Generator, whole: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return parameters, some of whose scales are negative, features and costs."""
    layout = model.layout(3, 3)
    theta = (
        rng.integers(-1, 3, layout.size).astype(float) if whole else rng.normal(size=layout.size)
    )
    blocks = layout.unpack(theta)
    if "knots" in blocks:
        blocks["knots"][:] = np.sort(rng.normal(size=blocks["knots"].shape), axis=0)
    features = np.column_stack([np.ones(6), rng.normal(size=(6, 2))])
    costs = rng.integers(-1, 2, (6, 3)).astype(float) if whole else rng.normal(size=(6, 3))
    return theta, features, costs


def test_where_some_samples_tie_only_those_are_centered() -> None:
    model = fl.Minkowski([fl.Term(fl.Simplex(3)), fl.Term(fl.Hypersimplex(3, 2))], scale="constant")
    layout = model.layout(3, 1)
    theta = np.zeros(layout.size)
    layout.unpack(theta)["alpha"][:] = 1.0
    costs = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])
    center = model.predict(theta, np.ones((3, 1)), costs, ties="center")
    np.testing.assert_allclose(center, [[1.5, 1.5, 0], [2, 1, 0], [2, 0.5, 0.5]], atol=1e-12)
    first = model.predict(theta, np.ones((3, 1)), costs)
    np.testing.assert_allclose(first, [[2, 1, 0], [2, 1, 0], [2, 1, 0]], atol=1e-12)
    assert model.tied(theta, np.ones((3, 1)), costs).tolist() == [True, False, True]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("offset", [True, False])
@settings(max_examples=6)
@given(rng=generators(), whole=st.booleans())
def test_decisions_minimise_the_cost_over_the_region(
    scale: str, offset: bool, rng: np.random.Generator, whole: bool
) -> None:
    model = mixed(scale, offset)
    theta, features, costs = case(model, rng, whole)
    for ties in ("first", "center"):
        decisions = model.predict(theta, features[:2], costs[:2], ties=ties)
        for x, phi, c in zip(decisions, features, costs, strict=False):
            image = model.image(theta, phi, 3)
            assert image.distance(x) <= 1e-5
            assert c @ x == pytest.approx(-image.support(-c), abs=1e-6)


def test_the_index_of_a_balance_is_its_right_hand_side() -> None:
    """Decisions 0 to 2 add up to a demand; decision 3 moves with a feature, but not only."""
    rng = np.random.default_rng(0)
    signals = rng.uniform(0.0, [1.0, 10.0, 100.0], size=(40, 3))
    demand, shares = signals @ [2.0, -0.5, 0.01], rng.dirichlet(np.ones(3), size=40)
    other = 0.2 * signals[:, 1] + rng.normal(size=40)
    decisions = np.column_stack([shares * demand[:, None], other])
    found = best_explained(signals, decisions)
    expected = np.array([2.0, -0.5, 0.01]) / np.linalg.norm([2.0, -0.5, 0.01])
    np.testing.assert_allclose(found, expected, atol=1e-2)
    np.testing.assert_allclose(best_explained(signals, decisions[:, :3]), expected, atol=1e-3)
    decisions[3, 0] = np.nan
    np.testing.assert_allclose(best_explained(signals, decisions[:, :3]), expected, atol=1e-3)
    np.testing.assert_array_equal(best_explained(signals[:, :1] * 0.0 + 7.0, decisions), [0.0])
    np.testing.assert_array_equal(best_explained(signals, np.ones((40, 2))), np.zeros(3))


def test_scales_by_an_index_are_tents_of_one_number() -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(50), rng.normal(size=(50, 2))])
    basis, index = ScaleBasis("index", 3, 4), features[:, 1:] @ [0.6, -0.8]
    knots = basis.place_knots(features, index[:, None] * [1.0, 2.0])
    assert knots.shape == basis.knots_shape == (4, 2)
    np.testing.assert_allclose(np.abs(index_direction(knots)), [0.6, 0.8])
    psi = basis.values(features, knots)
    assert psi.shape == (50, basis.size) == (50, 4)
    places = np.quantile(index, np.linspace(0.0, 1.0, 4))
    tents = np.column_stack([np.interp(index, places, row) for row in np.eye(4)])
    turned = tents[:, ::-1] if index_direction(knots)[0] < 0.0 else tents
    np.testing.assert_allclose(psi, turned, atol=1e-12)
    # The functions add up to one, and beyond the knots they are constant.
    np.testing.assert_allclose(psi.sum(axis=1), 1.0)
    far = np.array([[1.0, 60.0, -80.0]])
    assert sorted(basis.values(far, knots)[0]) == [0.0, 0.0, 0.0, 1.0]
    still = basis.values(features, np.zeros((4, 2)))
    np.testing.assert_array_equal(still, np.eye(4)[np.zeros(50, dtype=int)])


def test_negative_scales_count_as_zero() -> None:
    model = fl.Minkowski([fl.Term(fl.Box(1, 0.0, 1.0), [0])])
    theta = model.layout(1, 2).pack({"alpha": np.array([[1.0, 1.0]]), "b": np.zeros((2, 1))})
    features = np.array([[1.0, 1.0], [1.0, -3.0]])
    np.testing.assert_array_equal(model.predict(theta, features, -np.ones((2, 1))), [[2.0], [0.0]])
    np.testing.assert_array_equal(model.unclipped_scales(theta, features, 1), [[2.0], [-2.0]])
    assert model.image(theta, features[1], 1).is_point
    assert not model.tied(theta, features[1:], np.zeros((1, 1)))[0]
    assert model.account(theta, features[0], ["a"]) != []
    assert model.account(theta, features[1], ["a"]) == []


def test_everything_wrong_is_named_together() -> None:
    terms = [
        fl.Term(fl.Simplex(2)),
        fl.Term(fl.Simplex(2), [0, 9]),
        fl.Term(fl.Simplex(2), [1, 1]),
        fl.Term(fl.Simplex(3), [0, 1]),
        fl.Term(fl.Simplex(2), matrix=np.eye(2)),
        fl.Term(fl.Simplex(2), [0, 1], matrix=np.ones((3, 2))),
        fl.Term(fl.Simplex(2), [0, 1], [1.0, np.nan]),
        fl.Term(fl.Hypersimplex(2, 5), [0, 1]),
        fl.Term("simplex"),
        fl.Term(fl.Simplex(1), matrix=[[1.0], [np.inf], [0.0]]),
    ]
    with pytest.raises(DataError) as caught:
        fl.Minkowski(terms, scale="linear", n_knots=1).check(3)
    text = str(caught.value)
    for part in (
        "term 0: Simplex(p=2) has 2 entries for 3 decisions",
        "term 1: coordinate 9 is not one of the decisions 0 to 2",
        "term 2: coordinates [1, 1] name a decision twice",
        "term 3 has 2 coordinates for 3 entries",
        "term 4: matrix has shape (2, 2), expected (3, 2)",
        "term 5 has a matrix as well as coordinates",
        "term 6: weights must be",
        "term 7: Hypersimplex(p=2, m=5) is empty",
        "term 8 needs a primitive set",
        "term 9: matrix[1, 0] is inf",
        "scale='linear'",
        "n_knots=1",
    ):
        assert part in text, part


def test_batches_of_terms_equal_one_by_one() -> None:
    """The same terms in another order, through other groups, give the same decisions."""
    rng = np.random.default_rng(0)
    model = mixed()
    theta, features, costs = case(model, rng, whole=True)
    blocks = model.layout(3, 3).unpack(theta)
    total = features @ blocks["b"]
    for term, alpha in zip(model.terms, blocks["alpha"], strict=True):
        one = fl.Minkowski([term], offset=False)
        total = total + one.predict(alpha, features, costs)
    np.testing.assert_allclose(model.predict(theta, features, costs), total, atol=1e-9)
    reordered = fl.Minkowski(model.terms[::-1])
    mirrored = reordered.layout(3, 3).pack({"alpha": blocks["alpha"][::-1], "b": blocks["b"]})
    np.testing.assert_allclose(reordered.predict(mirrored, features, costs), total, atol=1e-9)


# The smallest entries of rows: short rows by exchanges, long ones by sorting, both the same.


@pytest.mark.parametrize("p", [1, 2, 5, FEW_ENTRIES, FEW_ENTRIES + 1, 20])
def test_smallest_entries_against_a_stable_sort(p: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_minimizers, "ROWS_TOGETHER", 7)
    Q = np.random.default_rng(p).integers(-3, 4, (40, p)).astype(float)
    Q[0] = 0.0
    counts = [1, max(1, p // 2), p]
    chosen, tied = smallest_entries(Q, counts)
    order = np.argsort(Q, axis=1, kind="stable")
    for i, row in enumerate(Q):
        for place, count in enumerate(counts):
            assert set(np.flatnonzero(chosen[i, place])) == set(order[i, :count])
            ends = np.sort(row)
            assert tied[i, place] == (count < p and ends[count] == ends[count - 1])


# What a term lets the decision maker do, in words.

UNIT = fl.Box(1, 0.0, 1.0)


@pytest.mark.parametrize(
    ("term", "scale", "said"),
    [
        (fl.Term(fl.Simplex(2), [0, 2]), 3.0, "can shift up to 3 between gas and wind"),
        (fl.Term(fl.Simplex(3)), 0.5, "can put 0.5 on any one of gas, coal and wind"),
        (fl.Term(fl.Simplex(3), [0, 1, 2], -1.0), 0.5, "can take 0.5 off any one of gas"),
        (fl.Term(fl.Hypersimplex(3, 2)), 2.0, "can put 2 on each of any 2 of gas, coal and wind"),
        (fl.Term(fl.Box(1, -1.0, 2.0), [1]), 2.0, "can raise coal by up to 6"),
        (fl.Term(UNIT, [2], -1.0), 2.0, "can lower wind by up to 2"),
        (
            fl.Term(UNIT, matrix=[[1.0], [-2.0], [0.0]]),
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
def test_accounts_of_terms(term: fl.Term, scale: float, said: str) -> None:
    assert account_of(term, scale, ["gas", "coal", "wind"]).startswith(said)


def test_only_terms_that_count_are_mentioned() -> None:
    model = fl.Minkowski([fl.Term(fl.Box(1), [j]) for j in range(3)], "constant", offset=False)
    lines = model.account(np.array([1e3, 1e-2, 1e-4]), np.ones(1), ["gas", "coal", "wind"])
    assert [line.split()[2] for line in lines] == ["gas", "coal"]


# Dictionaries: lists of terms, word by word, and those that cannot be.


def described(terms: list[fl.Term]) -> list[tuple[str, Any, Any]]:
    """Return kind, coordinates and weights of terms; of one with a matrix, the matrix."""
    found = []
    for term in terms:
        places = term.places()
        own = (None, term.embedding(3).tolist()) if places is None else (p.tolist() for p in places)
        found.append((repr(term.primitive).replace("p=", "").replace("m=", ""), *own))
    return found


def test_dictionaries_word_by_word() -> None:
    ones = [1.0, 1.0]
    assert described(fl.Minkowski.hypersimplices(3).terms) == [
        ("Hypersimplex(3, 1)", [0, 1, 2], [1.0] * 3),
        ("Hypersimplex(3, 2)", [0, 1, 2], [1.0] * 3),
    ]
    pairs = [("Simplex(2)", [i, j], ones) for i, j in ((0, 1), (0, 2), (1, 2))]
    whole = ("Simplex(3)", [0, 1, 2], [1.0] * 3)
    assert described(fl.Minkowski.simplices(3, [2, 3]).terms) == [*pairs, whole]
    assert described(fl.Minkowski.simplices(3, [3], reflected=True).terms) == [
        ("Simplex(3)", [0, 1, 2], [-1.0] * 3)
    ]
    unit = "Box(1, lower=0.0, upper=1.0)"
    assert described(fl.Minkowski.segments([[0.0, 3.0, 0.0], [1.0, -1.0, 0.0]]).terms) == [
        (unit, [1], [3.0]),
        (unit, None, [[1.0], [-1.0], [0.0]]),
    ]
    assert described(automatic(1)) == [(unit, [0], [1.0])]
    along = [(unit, [j], [1.0]) for j in range(3)]
    assert described(automatic(3))[2:] == [*pairs, *along]
    assert described(automatic(2)) == [("Hypersimplex(2, 1)", [0, 1], ones), *along[:2]]
    assert len(automatic(12)) == 11 + 66 + 12
    # Of 24 decisions every second moving average, over two to six.
    assert len(automatic(24)) == 23 + 5 * 11 + 24


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fl.Minkowski.hypersimplices(0), "n=0 is not an integer >= 1"),
        (lambda: fl.Minkowski.hypersimplices(True), "n=True is not an integer"),
        (lambda: fl.Minkowski.windows(2.0, [2]), "n=2.0 is not an integer"),
        (lambda: fl.Minkowski.windows(3, [1]), "lengths=1 is not an integer >= 2"),
        (lambda: fl.Minkowski.windows(3, [4]), "lengths holds 4, but there are 3 decisions"),
        (lambda: fl.Minkowski.smoothed(3, [2], 0), "step=0 is not an integer"),
        (lambda: fl.Minkowski.smoothed(0, [2]), "n=0 is not an integer"),
        (lambda: fl.Minkowski.simplices(3, 2), "sizes=2 is not a list"),
        (lambda: fl.Minkowski.simplices(0, [2]), "n=0 is not an integer"),
        (
            lambda: fl.Minkowski.simplices(60, [4]),
            "487635 simplices over 60 decisions are too many",
        ),
        (lambda: fl.Minkowski.segments("ab"), "G does not hold numbers"),
        (lambda: fl.Minkowski.segments([1.0, 2.0]), r"G has shape \(2,\)"),
        (lambda: fl.Minkowski.segments(np.zeros((0, 2))), r"G has shape \(0, 2\)"),
        (lambda: fl.Minkowski.segments([[np.inf, 1.0]]), "expected finite numbers"),
    ],
)
def test_dictionaries_that_cannot_be(make: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        make()
    assert len(fl.Minkowski.simplices(20, [3]).terms) == 1140
