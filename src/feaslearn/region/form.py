"""The form of a region: labelled rows over decisions and latent variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.known import KnownShape
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.region.latent_set import LatentSet, latent_set
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_set import ConicSet
from feaslearn.sets.polytope import Polytope
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.vertex_enumeration import split_rows
from feaslearn.solvers.conic_form import (
    Cone,
    ConicForm,
    equality_rows,
    is_polyhedral,
    kept_cones,
)

#: What relaxing a facet (or the link to a latent set), a bound and an equality by one unit costs:
#: which of them is relaxed first where a region is empty.
RELAX_FACET, RELAX_BOUND, RELAX_EQUALITY = 1.0, 100.0, 1e4


class Row(NamedTuple):
    """The meaning of a row; ``relax`` is the cost of relaxing it by one unit, infinite if never."""

    kind: Literal["equality", "bound", "facet", "known", "link", "set"]
    name: str = ""
    relax: float = np.inf


def no_scales(features: Array) -> Array:
    """Return no weights besides the features."""
    return np.zeros((len(features), 0))


#: The weights of a region that does not move.
CONSTANT: dict[str, Any] = {"n_features": 1, "known": (), "scales": no_scales, "scale_names": ()}


@dataclass(frozen=True, eq=False)
class RegionForm:
    r"""The regions :math:`\{x : \exists z,\; X x + \sum_k w_k(s) (Z_k z - r_k) \in K\}`.

    The weights :math:`w(s)` are the features, the first of which is one, then right-hand sides of
    known constraints, then scales that are functions of the features. Where the first n rows are
    links, they say :math:`x = \sum_k w_k (r_k - Z_k z)`.

    Parameters
    ----------
    X : sparse array of shape (m, n)
        Coefficients of the decisions.
    Z : tuple of sparse arrays of shape (m, p)
        Coefficients of the latent variables z, for each weight.
    r : ndarray of shape (k, m)
        Right-hand sides, for each weight.
    cones : tuple of Cone
        The factors of K in the order of the rows.
    labels : tuple of Row
        The meaning of each row.
    n_features : int, default=1
        Number of weights that are features.
    known : tuple of str, default=()
        Names of the weights that are right-hand sides of known constraints.
    scales : callable, default=no_scales
        The last weights (N, scales) as a function of the features (N, n_features).
    scale_names : tuple of str, default=()
        Their names.

    Examples
    --------
    The triangle of two decisions that are at least 0 and together at most the second feature:

    >>> import numpy as np
    >>> from feaslearn.region import RegionForm, minimize
    >>> triangle = RegionForm.of_rows(
    ...     A=np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]),
    ...     b=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    ... )
    >>> minimize(triangle, np.array([[1.0, 3.0]]), np.array([[-1.0, -2.0]])).decisions
    array([[0., 3.]])
    """

    X: sp.csr_array
    Z: tuple[sp.csr_array, ...]
    r: Array
    cones: tuple[Cone, ...]
    labels: tuple[Row, ...]
    n_features: int = 1
    known: tuple[str, ...] = ()
    scales: Callable[[Array], Array] = no_scales
    scale_names: tuple[str, ...] = ()

    @classmethod
    def of_rows(
        cls,
        A: Array,
        b: Array,
        E: Array | None = None,
        e: Array | None = None,
        labels: Sequence[Row] | None = None,
    ) -> RegionForm:
        """Return the region ``A x <= b(s), E x = e(s)`` of decisions alone.

        ``b`` is (k, rows) and ``e`` (k, equalities); the labels are those of A, then those of E.
        """
        n, k = A.shape[1], len(b)
        if E is None or e is None:
            E, e = np.zeros((0, n)), np.zeros((k, 0))
        if labels is None:
            labels = [Row("facet", f"facet_{i + 1}", RELAX_FACET) for i in range(len(A))]
            labels += [Row("equality", f"equality_{i + 1}", RELAX_EQUALITY) for i in range(len(E))]
        return RegionForm(
            below([sparse(-A), sparse(E)]),
            tuple(sp.csr_array((len(A) + len(E), 0)) for _ in range(k)),
            np.hstack([-b, e]),
            (Cone("nonnegative", len(A)), Cone("zero", len(E))),
            tuple(labels),
            k,
        )

    @classmethod
    def of_maps(cls, latent: LatentSet, A: Sequence[Any], b: Array) -> RegionForm:
        """Return the points ``sum_k phi_k (A_k y + b_k)`` of the y in a set."""
        k, empty = len(b), sp.csr_array(latent.H.shape)
        w = np.zeros((k, len(latent.h)))
        w[0] = latent.h
        lifted = Lifted(
            tuple(sparse(sparse(A_k) @ latent.matrix) for A_k in A),
            b,
            (latent.H, *(empty for _ in A[1:])),
            w,
            latent.cones,
            set_rows(len(latent.h)),
        )
        return lifted.form(n_features=k)

    @classmethod
    def of_image(cls, image: AffineImage) -> RegionForm:
        """Return an affine image; rows of the decisions alone where it is the set itself."""
        latent = latent_set(image.primitive)
        same = np.array_equal(image.matrix @ latent.matrix, np.eye(image.n))
        if not same or image.offset.any():
            return cls.of_maps(latent, [image.matrix], image.offset[None])
        rows = len(latent.h)
        Z = (sp.csr_array((rows, 0)),)
        return RegionForm(latent.H, Z, latent.h[None], latent.cones, set_rows(rows))

    @property
    def n(self) -> int:
        """Number of decisions."""
        return int(self.X.shape[1])

    @property
    def p(self) -> int:
        """Number of latent variables."""
        return int(self.Z[0].shape[1])

    @property
    def curved(self) -> bool:
        """Whether a cone is not linear."""
        return not is_polyhedral(self.cones)

    @property
    def plain(self) -> bool:
        """Whether it is linear rows of the decisions alone, so that minima have duals."""
        return not (self.p or self.linked or self.curved)

    @property
    def fixed_matrix(self) -> bool:
        """Whether one matrix serves all signals, so that right-hand sides alone move."""
        return not any(Z.nnz for Z in self.Z[1:])

    @cached_property
    def moving(self) -> Mask:
        """Which rows have a weight besides the constant one."""
        found = (self.r[1:] != 0.0).any(axis=0)
        for Z in self.Z[1:]:
            found |= np.diff(Z.indptr) > 0
        return np.asarray(found)

    @property
    def equality(self) -> Mask:
        """Which rows are equalities."""
        return equality_rows(self.cones)

    @cached_property
    def linked(self) -> bool:
        """Whether the first n rows give the decisions as a function of the latent variables."""
        n = self.n
        return (
            bool(n and self.cones)
            and self.cones[0] == Cone("zero", n)
            and all(row.kind == "link" for row in self.labels[:n])
            and abs(self.X[:n] - sp.eye_array(n)).nnz == 0
        )

    @cached_property
    def lifted(self) -> Lifted:
        """The decisions as maps of points, links replaced."""
        n = self.n
        if not self.linked:
            first = beside([sparse(sp.eye_array(n)), sp.csr_array((n, self.p))])
            still = sp.csr_array(self.X.shape)
            return Lifted(
                (first, *[sp.csr_array(first.shape)] * len(self.Z[1:])),
                np.zeros((len(self.r), n)),
                (
                    beside([self.X, self.Z[0]]),
                    *_once(lambda Z: beside([still, Z]), self.Z[1:]),
                ),
                self.r,
                self.cones,
                self.labels,
            )
        M, rest = _once(lambda Z: sparse(-Z[:n]), self.Z), self.X[n:]
        return Lifted(
            M,
            self.r[:, :n],
            _once(lambda M_k, Z: sparse(rest @ M_k + Z[n:]), M, self.Z),
            self.r[:, n:] - self.r[:, :n] @ rest.T,
            self.cones[1:],
            self.labels[n:],
        )

    def weights(self, features: Array, known: Array | None = None) -> Array:
        """Return the weights at rows of features (N, k) and of known right-hand sides."""
        sides = np.zeros((len(features), 0)) if known is None else known
        return np.hstack([features, sides, self.scales(features)])

    def at(self, weights: Array) -> RegionForm:
        """Return the region where the weights have these values."""
        Z = sum((w * Z for w, Z in zip(weights, self.Z, strict=True) if w), sparse(0.0 * self.Z[0]))
        return replace(
            self,
            Z=(sparse(Z),),
            r=combined(weights[None], self.r),
            **CONSTANT,
        )

    def image(self, weights: Array) -> AffineImage:
        """Return the region at one row of weights as an affine image of a set of points."""
        rows = self.at(weights).lifted
        H, finite = rows.W[0].toarray(), np.isfinite(rows.w[0])
        form = ConicForm(H[finite], rows.w[0, finite], kept_cones(rows.cones, finite))
        primitive: PrimitiveSet = ConicSet(*form)
        if form.polyhedral:
            primitive = Polytope(*split_rows(form))
        return AffineImage(primitive, rows.M[0].toarray(), rows.m[0])

    def cut(self, A: Array, b: Array, E: Array, e: Array, labels: Sequence[Row]) -> RegionForm:
        """Return the region within ``A x <= b(w), E x = e(w)``; b and e are (weights, rows)."""
        none = sp.csr_array((len(A) + len(E), self.p))
        return replace(
            self,
            X=below([self.X, sparse(-A), sparse(E)]),
            Z=_once(lambda Z: below([Z, none]), self.Z),
            r=np.hstack([self.r, -b, e]),
            cones=(*self.cones, Cone("nonnegative", len(A)), Cone("zero", len(E))),
            labels=(*self.labels, *labels),
        )

    def where(self, shape: KnownShape) -> RegionForm:
        r"""Return the region within known rows :math:`G x \ge g, l \le x \le u, E x = e`.

        Their right-hand sides are new weights after the features, in the order of
        `KnownLimits.columns`. A region that is an image of latent points is moved straight onto the
        equalities, which say what it leaves open; rows of the decisions stand beside them.
        """
        n, k, count = self.n, self.n_features, shape.width
        none = [sp.csr_array(self.Z[0].shape)] * count
        names = tuple(f"known row {i}" for i in range(count))
        wider = replace(
            self,
            Z=(*self.Z[:k], *none, *self.Z[k:]),
            r=np.insert(self.r, [k] * count, 0.0, axis=0),
            known=names,
        )
        # Which weight is the right-hand side of which row: G, lower, upper, E.
        right = np.zeros((len(wider.r), count))
        right[k : k + count] = np.eye(count)
        g, lower, upper, e = np.split(right, np.cumsum([len(shape.G), n, n]), axis=1)
        E = shape.E
        if self.linked and len(E):
            # Moved straight onto the equalities: x - E^+ (E x - e).
            inverse = pseudo_inverse(E)
            onto, lifted = np.eye(n) - inverse @ E, wider.lifted
            moved = lifted._replace(
                M=_once(lambda M: sparse(onto @ M), lifted.M), m=lifted.m @ onto.T + e @ inverse.T
            )
            wider = moved.form(k, names, self.scales, self.scale_names)
            E, e = E[:0], e[:, :0]
        rows = np.vstack([-shape.G, -np.eye(n), np.eye(n)])
        labels = [Row("known", name) for name in names[: len(rows) + len(E)]]
        return wider.cut(rows, np.hstack([-g, -lower, upper]), E, e, labels)

    def row_names(self, decisions: Sequence[str]) -> list[str]:
        """Return a name for each row: bounds and links are named after their decision."""
        names = [row.name for row in self.labels]
        for i, row in enumerate(self.labels):
            entries = slice(self.X.indptr[i], self.X.indptr[i + 1])
            if row.kind not in ("bound", "link") or entries.stop - entries.start != 1:
                continue
            side = "upper" if self.X.data[entries][0] < 0.0 else "lower"
            name = decisions[int(self.X.indices[entries][0])]
            names[i] = f"{name}_{side}" if row.kind == "bound" else f"{name}_link"
        return names

    def on_signals(self, slopes: Array, constants: Array) -> RegionForm:
        r"""Return the region of decisions and signals together, where w(s) = T s + t is affine.

        ``slopes`` is T (weights, signals) and ``constants`` is t; one matrix must serve all
        signals. The signals are columns after the decisions.
        """
        if not self.fixed_matrix:
            raise UnsupportedError(
                "the rows of this region rotate with the signal, so they are not linear in "
                "decisions and signals together; Facets are"
            )
        return replace(
            self,
            X=beside([self.X, sparse(-(self.r.T @ slopes))]),
            Z=self.Z[:1],
            r=(constants @ self.r)[None],
            **CONSTANT,
        )

    def keep_known(self, kept: Mask, names: Sequence[str]) -> RegionForm:
        """Return the region with some of its known right-hand sides and their rows, renamed."""
        first, last = self.n_features, self.n_features + len(self.known)
        gone = (self.r[first:last][~kept] != 0.0).any(axis=0)
        rows = np.flatnonzero(~gone)
        weights = np.ones(len(self.r), dtype=bool)
        weights[first:last] = kept
        new = dict(zip(np.asarray(self.known)[kept].tolist(), names, strict=True))
        labels = [self.labels[i] for i in rows]
        return replace(
            self,
            X=sparse(self.X[rows]),
            Z=tuple(sparse(Z[rows]) for Z, stays in zip(self.Z, weights, strict=True) if stays),
            r=self.r[weights][:, rows],
            cones=kept_cones(self.cones, ~gone),
            labels=tuple(row._replace(name=new.get(row.name, row.name)) for row in labels),
            known=tuple(names),
        )


class Lifted(NamedTuple):
    r"""The points :math:`\sum_k w_k (M_k y + m_k)` of the y with :math:`\sum_k w_k (W_k y - w_k)
    \in K`.
    """

    M: tuple[sp.csr_array, ...]
    m: Array
    W: tuple[sp.csr_array, ...]
    w: Array
    cones: tuple[Cone, ...]
    labels: tuple[Row, ...]

    def form(
        self,
        n_features: int,
        known: tuple[str, ...] = (),
        scales: Callable[[Array], Array] = no_scales,
        scale_names: tuple[str, ...] = (),
    ) -> RegionForm:
        """Return these regions with links to the decisions before the rows."""
        n, rows = self.m.shape[1], len(self.labels)
        return RegionForm(
            below([sparse(sp.eye_array(n)), sp.csr_array((rows, n))]),
            _once(lambda M, W: below([-M, W]), self.M, self.W),
            np.hstack([self.m, self.w]),
            (Cone("zero", n), *self.cones),
            (*(Row("link", f"decision {j}", RELAX_FACET) for j in range(n)), *self.labels),
            n_features,
            known,
            scales,
            scale_names,
        )


def _once(
    make: Callable[..., sp.csr_array], *matrices: Sequence[sp.csr_array]
) -> tuple[sp.csr_array, ...]:
    """Return what is made of matrices, once for those that are one object: most are zero."""
    made: dict[tuple[int, ...], sp.csr_array] = {}
    found = []
    for group in zip(*matrices, strict=True):
        key = tuple(id(each) for each in group)
        if key not in made:
            made[key] = make(*group)
        found.append(made[key])
    return tuple(found)


def set_rows(count: int) -> tuple[Row, ...]:
    """Return labels of the rows of a latent set."""
    return tuple(Row("set", f"row {i} of the set") for i in range(count))


def combined(weights: Array, table: Array) -> Array:
    """Return ``weights @ table``, in which an infinite weight that does not count is none."""
    infinite = np.isinf(weights)
    if not infinite.any():
        return np.asarray(weights @ table)
    found = np.where(infinite, 0.0, weights) @ table
    sides = np.where(infinite, np.sign(weights), 0.0) @ np.sign(table)
    return np.asarray(np.where(sides > 0.0, np.inf, np.where(sides < 0.0, -np.inf, found)))


def sparse(values: Any) -> sp.csr_array:
    """Return a matrix as a sparse array of rows."""
    return sp.csr_array(values)


def beside(blocks: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return matrices in one row of blocks."""
    return sp.csr_array(sp.hstack(blocks))


def below(blocks: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return matrices in one column of blocks."""
    return sp.csr_array(sp.vstack(blocks))
