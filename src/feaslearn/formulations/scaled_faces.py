"""Points of scaled sets, ``zeta in alpha F``, as rows of one sparse conic program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.hypotheses.term import Term
from feaslearn.hypotheses.term_minimizers import without_rounding
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_form import ConeKind

Array = NDArray[np.float64]


class ScaledFaces:
    r"""The rows :math:`H\nu - \alpha_t(s_i) h \in K` for pairs of a sample i and a term t.

    Parameters
    ----------
    terms : sequence of Term
        The terms.
    costs : ndarray of shape (N, n)
        Costs of the samples.
    pairs : ndarray of bool of shape (N, T)
        The pairs that have such rows.
    whole : bool
        Whether F is the whole term, or its minimisers.

    Attributes
    ----------
    H : sparse array, and h, rows, terms : ndarray
        The rows, with the sample and the term whose scale multiplies h.
    image : sparse array of shape (N n, size)
        What the latent points add to the decisions.
    anchors : ndarray of shape (N, T, n)
        What each pair adds to the decisions for every unit of its scale.
    """

    def __init__(
        self, terms: Sequence[Term], costs: Array, pairs: NDArray[np.bool_], whole: bool
    ) -> None:
        count, n = costs.shape
        self.anchors = np.zeros((count, len(terms), n))
        self._kinds: list[tuple[ConeKind, NDArray[np.intp]]] = []
        embeddings = [term.embedding(n) for term in terms]
        forms = [term.primitive.conic_form() for term in terms] if whole else []
        H, image = _Entries(), _Entries()
        h, rows, owners = [np.zeros(0)], [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        size = height = 0
        for i, t in np.argwhere(pairs):
            matrix = embeddings[t]
            if whole:
                form = forms[t]
            else:
                face = _face(terms[t], matrix, costs[i])
                self.anchors[i, t] = matrix @ face.offset
                matrix, form = matrix @ face.matrix, face.primitive.conic_form()
            H.add(form.H, height, size)
            image.add(matrix, i * n, size)
            h.append(form.h)
            rows.append(np.full(len(form.h), i))
            owners.append(np.full(len(form.h), t))
            for cone, block in form.blocks():
                if cone.size:
                    self._kinds.append((cone.kind, height + np.arange(block.start, block.stop)))
            height, size = height + len(form.h), size + form.H.shape[1]
        self.size = size
        self.H, self.image = H.matrix((height, size)), image.matrix((count * n, size))
        self.h = np.concatenate(h)
        self.rows, self.terms = np.concatenate(rows), np.concatenate(owners)

    def cones(self) -> Iterator[tuple[ConeKind, int, NDArray[np.intp]]]:
        """Yield kind, size and rows: linear rows all together, curved cones by their size."""
        together: dict[tuple[ConeKind, int], list[NDArray[np.intp]]] = {}
        for kind, places in self._kinds:
            size = 1 if kind in ("nonnegative", "zero") else len(places)
            together.setdefault((kind, size), []).append(places)
        for (kind, size), parts in together.items():
            yield kind, size, np.concatenate(parts)


class _Entries:
    """A sparse matrix that is put together from dense blocks."""

    def __init__(self) -> None:
        self._values: list[Array] = []
        self._rows: list[NDArray[np.intp]] = []
        self._columns: list[NDArray[np.intp]] = []

    def add(self, block: Array, row: int, column: int) -> None:
        rows, columns = np.nonzero(block)
        self._values.append(block[rows, columns])
        self._rows.append(rows + row)
        self._columns.append(columns + column)

    def matrix(self, shape: tuple[int, int]) -> Any:
        if not self._values:
            return sp.csr_array(shape)
        places = np.concatenate(self._rows), np.concatenate(self._columns)
        return sp.csr_array((np.concatenate(self._values), places), shape=shape)


def _face(term: Term, E: Array, cost: Array) -> AffineImage:
    """Return all minimisers of a term."""
    return term.primitive.face(without_rounding(cost[None], E[None])[0, 0])
