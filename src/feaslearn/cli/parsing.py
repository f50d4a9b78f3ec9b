"""Parsers of words on the command line: hypotheses, features, bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from feaslearn.cli.columns import FitColumns, number
from feaslearn.cli.options import Columns, split
from feaslearn.costs import AffineCost
from feaslearn.exceptions import DataError, Problems
from feaslearn.features import SPECIFICATIONS
from feaslearn.hypotheses import Hypothesis
from feaslearn.known import Known
from feaslearn.messages import did_you_mean, find_columns
from feaslearn.sets import PrimitiveSet

OPTION = "--hypothesis"

#: Sets by name, of p entries, and how many numbers they take; p is that of the decisions
#: where it is not given.
SETS: dict[str, tuple[Callable[..., PrimitiveSet], tuple[int, ...]]] = {
    "simplex": (fl.Simplex, (0, 1)),
    "box": (fl.Box, (0, 1)),
    "l1ball": (fl.L1Ball, (0, 1)),
    "l2ball": (fl.L2Ball, (0, 1)),
    "hypersimplex": (fl.Hypersimplex, (2,)),
}
#: Dictionaries of Minkowski sums that need no more than the number of decisions.
DICTIONARIES = ("pairs", "hypersimplices", "box")
#: And those made with a list of numbers.
SIZED_DICTIONARIES = ("simplices", "windows")

#: Transformers by name, made of one number.
TRANSFORMERS: dict[str, Callable[[int], Any]] = {
    "poly": lambda degree: PolynomialFeatures(degree, include_bias=False),
    "spline": lambda knots: SplineTransformer(knots, include_bias=False),
}


def parse_hypothesis(text: str, n: int) -> Hypothesis | None:
    """Return the hypothesis of n decisions that a string names, None for "auto"."""
    name, *parts = text.split(":")
    if name in ("auto", "linear"):
        parse_integers(OPTION, text, parts, 0)
        return None if name == "auto" else fl.Affine(fl.Simplex(1))
    if name == "facets":
        return fl.Facets((*parse_integers(OPTION, text, parts, 0, 1), None)[0])
    if name in SETS:
        kind, counts = SETS[name]
        return fl.Affine(kind(*(parse_integers(OPTION, text, parts, *counts) or [n])))
    if name == "minkowski":
        return _parse_sum(text, parts, n)
    raise DataError(f"{OPTION}: {text!r} is not known; {did_you_mean(text, usages())}")


def usages() -> list[str]:
    """Return what may be written, for help and messages."""
    sets = [f"{name}:P:M" if name == "hypersimplex" else f"{name}:P" for name in SETS]
    sums = [f"minkowski:{name}" for name in DICTIONARIES]
    sums += [f"minkowski:{name}:M" for name in SIZED_DICTIONARIES]
    return ["auto", "linear", "facets", *sets, "minkowski", *sums]


def _parse_sum(text: str, parts: list[str], n: int) -> Hypothesis:
    """Return a Minkowski sum by the name of its dictionary."""
    name, *sizes = parts or ["auto"]
    known = ["auto", *DICTIONARIES, *SIZED_DICTIONARIES]
    if name not in known:
        raise DataError(f"{OPTION}: {text!r}: no such sum; {did_you_mean(name, known)}")
    counts = range(1, n + 1) if name in SIZED_DICTIONARIES else (0,)
    numbers = parse_integers(OPTION, text, sizes, *counts)
    make: Callable[..., Hypothesis] = getattr(fl.Minkowski, name, fl.Minkowski)
    return make("auto") if name == "auto" else make(n, *([numbers] if numbers else []))


def parse_features(text: str) -> Any:
    """Return the features of ``non-cost``, ``all``, ``scale``, ``poly:2`` or ``spline:5``."""
    name, *numbers = text.split(":")
    if name in SPECIFICATIONS and not numbers:
        return name
    if name == "scale" and not numbers:
        return StandardScaler()
    if name not in TRANSFORMERS:
        known = [*SPECIFICATIONS, "scale", *TRANSFORMERS]
        raise DataError(f"--features: {text!r} is not known; {did_you_mean(name, known)}")
    (number,) = parse_integers("--features", text, numbers, 1)
    return TRANSFORMERS[name](number)


def parse_integers(option: str, text: str, parts: list[str], *counts: int) -> list[int]:
    """Read the numbers after a name; ``counts`` says how many there may be."""
    # Python refuses to read an integer of thousands of digits.
    whole = all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
    if len(parts) not in counts or not whole:
        many = " or ".join(map(str, counts))
        raise DataError(f"{option}: {text!r} needs {many} integer(s) after its name")
    return [int(part) for part in parts]


def parse_known(
    lower: Columns, upper: Columns, balance: Columns, columns: FitColumns
) -> Known | None:
    """Return the known constraints: bounds by numbers and columns, and the sum of decisions."""
    low, high, parts = split(lower), split(upper), split(balance)
    if not low and not high and not parts:
        return None
    return Known(
        bounds=(_side(low), _side(high)) if low or high else None,
        balance=_total(parts, columns) if parts else None,
    )


def _side(items: Sequence[str]) -> float | list[object] | None:
    """Return one number, or a list of numbers, columns and None."""
    numbers = [number(item) for item in items]
    if len(items) == 1 and numbers[0] is not None:
        return numbers[0]
    named = [None if item.lower() == "none" else item for item in items]
    read = [text if value is None else value for text, value in zip(named, numbers, strict=True)]
    return list(read) or None


def _total(items: Sequence[str], columns: FitColumns) -> tuple[np.ndarray, AffineCost]:
    """Return the row of ones and the sum of columns and numbers."""
    names, problems = list(columns.signals.columns), Problems()
    wanted = [item for item in items if number(item) is None]
    found = find_columns(wanted, names, len(names), "--balance", "among the signals", problems)
    problems.raise_if_any(DataError, "fit")
    slopes = np.zeros((1, len(names)))
    slopes[0, list(found)] = 1.0
    constant = sum(float(item) for item in items if item not in wanted)
    return np.ones(columns.decisions.shape[1]), AffineCost([float(constant)], slopes)
