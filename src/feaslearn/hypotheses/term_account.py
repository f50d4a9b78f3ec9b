"""What a term of a Minkowski sum means, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.hypotheses.term import Term
from feaslearn.sets.box import Box
from feaslearn.sets.hypersimplex import Hypersimplex
from feaslearn.sets.simplex import Simplex


def account_of(term: Term, scale: float, names: Sequence[str]) -> str:
    """Say what a term of this scale lets the decision maker do.

    Examples
    --------
    >>> from feaslearn import Simplex, Term
    >>> from feaslearn.hypotheses.term_account import account_of
    >>> account_of(Term(Simplex(2), [1, 4]), 3.2, [f"unit {j}" for j in range(6)])
    'can shift up to 3.2 between unit 1 and unit 4'
    """
    E = term.embedding(len(names))
    primitive = term.primitive
    if isinstance(primitive, Box) and primitive.dimension == 1:
        lower, upper = (float(limit[0]) for limit in primitive.limits())
        return _segment(E[:, 0] * scale * (upper - lower), names)
    placed = term.places()
    weights = set() if placed is None else set(placed[1].tolist())
    if placed is None or len(weights) != 1:
        return f"can choose from {primitive!r} times {scale:.4g} on {_moved(E, names)}"
    amount = scale * weights.pop()
    listed = _list([names[j] for j in placed[0]])
    if isinstance(primitive, Simplex) and primitive.dimension == 2:
        return f"can shift up to {abs(amount):.4g} between {listed}"
    if isinstance(primitive, Simplex | Hypersimplex):
        count = primitive.m if isinstance(primitive, Hypersimplex) else 1
        each = "any one" if count == 1 else f"each of any {count}"
        verb = "put" if amount > 0 else "take"
        return f"can {verb} {abs(amount):.4g} {'on' if amount > 0 else 'off'} {each} of {listed}"
    return f"can choose from {primitive!r} times {amount:.4g} on {listed}"


def _segment(g: np.ndarray, names: Sequence[str]) -> str:
    moved = [int(j) for j in np.flatnonzero(g)]
    if len(moved) == 1:
        way = "raise" if g[moved[0]] > 0 else "lower"
        return f"can {way} {names[moved[0]]} by up to {abs(g[moved[0]]):.4g}"
    parts = _list([f"{names[j]} by {g[j]:+.4g}" for j in moved])
    return f"can move, up to all the way, {parts}" if moved else "can do nothing"


def _moved(E: np.ndarray, names: Sequence[str]) -> str:
    return _list([name for name, row in zip(names, E, strict=True) if row.any()])


def _list(words: Sequence[str]) -> str:
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
