"""One term of a Minkowski sum: a primitive set and where it stands among the decisions."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array, Indices
from feaslearn.exceptions import FeaslearnError, Problems
from feaslearn.region.latent_set import refuse_binary
from feaslearn.sets.box import Box
from feaslearn.sets.hypersimplex import Hypersimplex
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.simplex import Simplex


@dataclass(eq=False, repr=False)
class Term(BaseEstimator):
    r"""The set :math:`\{E z : z \in Z\}` of decisions.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.
    coordinates : sequence of int, default=None
        The decisions that the entries of z are; the others are zero. None means all of them, in
        their order.
    weights : float or sequence of float, default=1.0
        What the entries of z are multiplied by; negative weights reflect the set.
    matrix : array-like of shape (n, p), default=None
        The matrix E itself, instead of coordinates and weights.

    Examples
    --------
    >>> from feaslearn import Simplex, Term
    >>> Term(Simplex(2), coordinates=[0, 2], weights=-1.0).embedding(3)
    array([[-1.,  0.],
           [ 0.,  0.],
           [ 0., -1.]])
    """

    primitive: PrimitiveSet
    coordinates: Sequence[int] | None = None
    weights: ArrayLike = 1.0
    matrix: ArrayLike | None = None

    def check(self, n: int, name: str, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with the term among n decisions."""
        if not isinstance(self.primitive, PrimitiveSet):
            problems.add(f"{name} needs a primitive set such as Simplex(2), not {self.primitive!r}")
            return
        try:
            refuse_binary(self.primitive)
            self.primitive.check()
            p = self.primitive.dimension
        except FeaslearnError as error:
            problems.add(f"{name}: {error}", error=type(error))
            return
        if self.matrix is not None:
            self._check_matrix(n, p, name, problems)
        else:
            self._check_coordinates(n, p, name, problems)

    def _check_matrix(self, n: int, p: int, name: str, problems: Problems) -> None:
        if self.coordinates is not None or not np.array_equal(self.weights, 1.0):
            problems.add(f"{name} has a matrix as well as coordinates or weights; give one of them")
        try:
            matrix = np.asarray(self.matrix, dtype=float)
        except (TypeError, ValueError):
            problems.add(f"{name}: matrix does not hold numbers")
            return
        if matrix.shape != (n, p):
            problems.add(
                f"{name}: matrix has shape {matrix.shape}, expected ({n}, {p}): one row for each "
                f"decision, one column for each entry of {self.primitive!r}"
            )
        elif not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            problems.add(f"{name}: matrix[{row}, {column}] is {matrix[row, column]}")

    def _check_coordinates(self, n: int, p: int, name: str, problems: Problems) -> None:
        try:
            weights = np.asarray(self.weights, dtype=float)
        except (TypeError, ValueError):
            problems.add(f"{name}: weights do not hold numbers")
            return
        if weights.shape not in ((), (p,)) or not np.isfinite(weights).all():
            problems.add(f"{name}: weights must be one finite number or {p}, not {self.weights!r}")
        if self.coordinates is None:
            if p != n:
                problems.add(
                    f"{name}: {self.primitive!r} has {p} entries for {n} decisions; say with "
                    "coordinates which decisions they are, or give a matrix"
                )
            return
        chosen: list[Any] = np.asarray(self.coordinates, dtype=object).ravel().tolist()
        if len(chosen) != p:
            problems.add(f"{name} has {len(chosen)} coordinates for {p} entries")
        for j in chosen:
            if not isinstance(j, Integral) or isinstance(j, bool) or not 0 <= int(j) < n:
                problems.add(f"{name}: coordinate {j!r} is not one of the decisions 0 to {n - 1}")
        if any(j in chosen[:place] for place, j in enumerate(chosen)):
            problems.add(f"{name}: coordinates {chosen} name a decision twice")

    def places(self) -> tuple[Indices, Array] | None:
        """Return coordinates and weights of the entries, or None where there is a matrix."""
        if self.matrix is not None:
            return None
        p = self.primitive.dimension
        places = np.arange(p) if self.coordinates is None else np.asarray(self.coordinates, np.intp)
        return places, np.broadcast_to(np.asarray(self.weights, dtype=float), p)

    def embedding(self, n: int) -> Array:
        """Return the matrix E (n, p)."""
        places = self.places()
        if places is None:
            return np.asarray(self.matrix, dtype=float)
        E = np.zeros((n, self.primitive.dimension))
        E[places[0], np.arange(E.shape[1])] = places[1]
        return E

    def __repr__(self) -> str:
        if self.matrix is not None:
            shape = "x".join(map(str, _listed(self.matrix).shape))
            return f"Term({self.primitive!r}, matrix=<{shape}>)"
        parts = [repr(self.primitive)]
        if self.coordinates is not None:
            parts.append(f"coordinates={_listed(self.coordinates).tolist()}")
        if not np.array_equal(self.weights, 1.0):
            parts.append(f"weights={_listed(self.weights).tolist()}")
        return f"Term({', '.join(parts)})"


def _listed(values: object) -> NDArray[np.object_]:
    """Return what was given, right or wrong, so that it can be shown."""
    try:
        return np.asarray(np.asarray(values), dtype=object)
    except ValueError:  # lists of different lengths
        return np.asarray(values, dtype=object)


def shape_of(primitive: PrimitiveSet) -> bytes:
    """Return what equal primitive sets share."""
    return pickle.dumps((type(primitive), primitive.get_params(deep=False)))


# What a term of a Minkowski sum means, in words.


def account_of(term: Term, scale: float, names: Sequence[str]) -> str:
    """Say what a term of this scale lets the decision maker do."""
    E = term.embedding(len(names))
    primitive = term.primitive
    if isinstance(primitive, Box) and primitive.dimension == 1:
        lower, upper = (float(limit[0]) for limit in primitive.limits())
        return _segment(E[:, 0] * scale * (upper - lower), names)
    placed = term.places()
    weights = set() if placed is None else set(placed[1].tolist())
    if placed is None or len(weights) != 1:
        moved = _list([name for name, row in zip(names, E, strict=True) if row.any()])
        return f"can choose from {primitive!r} times {scale:.4g} on {moved}"
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


def _list(words: Sequence[str]) -> str:
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
