"""What ``--hypothesis`` stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import feaslearn as fl
from feaslearn import hypotheses
from feaslearn.cli.choices import whole_numbers
from feaslearn.exceptions import DataError
from feaslearn.hypotheses import Hypothesis
from feaslearn.messages import did_you_mean
from feaslearn.sets import PrimitiveSet
from feaslearn.trainers.automatic import MEMBERS

OPTION = "--hypothesis"

#: Sets by name, of p entries, and how many numbers their text has; p is that of the decisions
#: where it is not given.
SETS: dict[str, tuple[Callable[..., PrimitiveSet], tuple[int, ...]]] = {
    "simplex": (fl.Simplex, (0, 1)),
    "box": (fl.Box, (0, 1)),
    "l1ball": (fl.L1Ball, (0, 1)),
    "l2ball": (fl.L2Ball, (0, 1)),
    "hypersimplex": (fl.Hypersimplex, (2,)),
}
#: Hypotheses that are made of a set. Those that a version does not have are not offered.
OF_A_SET = {"affine": "Affine", "scaled": "Scaled", "ternary": "Ternary"}
#: Dictionaries of Minkowski sums that need no more than the number of decisions.
DICTIONARIES = ("pairs", "hypersimplices", "box")
#: And those made with a list of numbers.
SIZED_DICTIONARIES = ("simplices", "windows")


def parse_hypothesis(text: str, n: int) -> Hypothesis | None:
    """Return the hypothesis that a text names, None for "auto".

    Parameters
    ----------
    text : str
        Such as ``simplex:6``, ``scaled:box`` or ``facets``.
    n : int
        Number of decisions.

    Returns
    -------
    Hypothesis or None
        What the region can be; None is chosen by cross-validation.

    Examples
    --------
    >>> from feaslearn.cli.hypothesis_text import parse_hypothesis
    >>> parse_hypothesis("scaled:box", 3)
    Scaled(primitive=Box(p=3))
    """
    asked = _Asked(text, n)
    known = {
        "auto": asked.auto,
        "linear": asked.linear,
        "facets": asked.facets,
        "blend": asked.blend,
        **dict.fromkeys(SETS, asked.affine),
        **{name: asked.of_a_set for name, kind in OF_A_SET.items() if _has(kind)},
        **({"minkowski": asked.minkowski} if _has("Minkowski") else {}),
    }
    if asked.name not in known:
        raise DataError(f"{OPTION}: {text!r} is not known; {did_you_mean(text, usages())}")
    return known[asked.name]()


def usages() -> list[str]:
    """Return what may be written, for help and messages."""
    sets = [f"{name}:P:M" if name == "hypersimplex" else f"{name}:P" for name in SETS]
    wrapped = [f"{name}:SET" for name in OF_A_SET if _has(OF_A_SET[name])]
    sums = []
    if _has("Minkowski"):
        sums = ["minkowski", *(f"minkowski:{name}" for name in DICTIONARIES)]
        sums += [f"minkowski:{name}:M" for name in SIZED_DICTIONARIES]
    return ["auto", "linear", "facets", "blend", *sets, *wrapped, *sums]


def _has(kind: str) -> bool:
    return kind in hypotheses.__all__


class _Asked:
    """A text, taken apart; one method for each kind of hypothesis."""

    def __init__(self, text: str, n: int) -> None:
        self.text = text
        self.n = n
        self.name, *self.parts = text.split(":")

    def auto(self) -> None:
        self._numbers(self.parts, 0)

    def linear(self) -> Hypothesis:
        self._numbers(self.parts, 0)
        return fl.Affine(fl.Simplex(1))

    def facets(self) -> Hypothesis:
        for most in self._numbers(self.parts, 0, 1):
            return fl.Facets(max_facets=most)
        return fl.Facets()

    def blend(self) -> Hypothesis:
        count = (*self._numbers(self.parts, 0, 1), MEMBERS)[0]
        return fl.Blend([fl.Facets() for _ in range(count)])

    def affine(self) -> Hypothesis:
        return fl.Affine(self._set(self.name, self.parts))

    def of_a_set(self) -> Hypothesis:
        kind: Any = getattr(hypotheses, OF_A_SET[self.name])
        hypothesis: Hypothesis = kind(self._set("".join(self.parts[:1]), self.parts[1:]))
        return hypothesis

    def minkowski(self) -> Hypothesis:
        # Looked up by name: a version may not have it.
        kind: Any = getattr(hypotheses, "Minkowski")  # noqa: B009
        name, *sizes = self.parts or ["auto"]
        hypothesis: Hypothesis
        if name in SIZED_DICTIONARIES:
            numbers = self._numbers(sizes, *range(1, self.n + 1))
            hypothesis = getattr(kind, name)(self.n, numbers)
        elif name in ("auto", *DICTIONARIES):
            self._numbers(sizes, 0)
            hypothesis = kind("auto") if name == "auto" else getattr(kind, name)(self.n)
        else:
            known = ["auto", *DICTIONARIES, *SIZED_DICTIONARIES]
            raise DataError(f"{OPTION}: {self.text!r}: no such sum; {did_you_mean(name, known)}")
        return hypothesis

    def _set(self, name: str, numbers: list[str]) -> PrimitiveSet:
        if name not in SETS:
            raise DataError(
                f"{OPTION}: {self.text!r} names no set; {did_you_mean(name, list(SETS))}"
            )
        kind, counts = SETS[name]
        return kind(*(self._numbers(numbers, *counts) or [self.n]))

    def _numbers(self, parts: list[str], *counts: int) -> list[int]:
        return whole_numbers(OPTION, self.text, parts, *counts)
