"""Lists of terms, word by word, and those that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.hypotheses.minkowski import automatic


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
