"""What words on the command line stand for."""

from __future__ import annotations

import pytest

import feaslearn as fl
from feaslearn.cli import parsing
from feaslearn.exceptions import DataError


@pytest.mark.parametrize("usage", parsing.usages())
def test_every_usage_that_is_offered_works(usage: str) -> None:
    text = usage.replace(":P", ":3").replace(":M", ":2")
    hypothesis = parsing.parse_hypothesis(text, 3)
    assert (hypothesis is None) == (text == "auto")
    if hypothesis is not None:
        hypothesis.check(3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("linear", fl.Affine(fl.Simplex(1))),
        ("facets:0", fl.Facets(max_facets=0)),
        ("facets:30", fl.Facets(30)),
        ("simplex:6", fl.Affine(fl.Simplex(6))),
        ("box", fl.Affine(fl.Box(4))),
        ("l2ball:2", fl.Affine(fl.L2Ball(2))),
        ("hypersimplex:5:2", fl.Affine(fl.Hypersimplex(5, 2))),
        ("minkowski:windows:2:3", fl.Minkowski.windows(4, [2, 3])),
    ],
)
def test_hypotheses(text: str, expected: fl.hypotheses.Hypothesis) -> None:
    assert repr(parsing.parse_hypothesis(text, 4)) == repr(expected)


@pytest.mark.parametrize(
    "text",
    ["", ":", "auto:1", "linear:2", "facets:1:2", "simplex:-1", "simplex:٣", "scaled", "affine:",
     "hypersimplex", "hypersimplex:3", "Simplex(3)", "__class__", "minkowski:nothing",
     "minkowski:box:1", "minkowski:windows", "minkowski:__class__"],
)  # fmt: skip
def test_hypotheses_that_are_not_known(text: str) -> None:
    with pytest.raises(DataError, match="--hypothesis"):
        parsing.parse_hypothesis(text, 4)


def test_features() -> None:
    assert parsing.parse_features("non-cost") == "non-cost"
    assert parsing.parse_features("spline:4").n_knots == 4
    for text in ("scale:2", "all:1", "poly:x", "poly:", "StandardScaler"):
        with pytest.raises(DataError, match="--features"):
            parsing.parse_features(text)
