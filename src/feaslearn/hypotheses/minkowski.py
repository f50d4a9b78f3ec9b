"""Minkowski sums of given sets: the convex class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError, Problems, UnsupportedError
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout, first_of
from feaslearn.hypotheses.scale_basis import SCALES, ScaleBasis
from feaslearn.hypotheses.term import Term, account_of
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.messages import did_you_mean
from feaslearn.parameters import Integer, check_value, require
from feaslearn.region.form import Lifted, RegionForm, Row, beside, sparse
from feaslearn.region.latent_set import latent_set
from feaslearn.region.minimize import Solved
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.box import Box
from feaslearn.sets.hypersimplex import Hypersimplex
from feaslearn.sets.primitive_set import Ties
from feaslearn.sets.product import Product
from feaslearn.sets.simplex import Simplex
from feaslearn.tolerances import VISIBLE_TOL

#: More terms than this are refused: the dictionary would take longer to write than to learn from.
MOST_TERMS = 20_000
#: Lengths of the runs of decisions that "windows" adds.
LENGTHS = (2, 3, 4, 6, 8, 12)
#: Decisions up to which "auto" lists all pairs; beyond, they are taken for a time series.
MOST_PAIRS = 12


@dataclass(eq=False, repr=False)
class Minkowski(Hypothesis):
    r"""Sums of given sets, each scaled by a learned function of the features.

    .. math::
        R(s) = b(s) \oplus \sum_t \alpha_t(s) E_t Z_t, \qquad
        \alpha_t(s) = \sum_m \alpha_{tm} \psi_m(s) \ge 0

    A linear cost is minimised term by term, and a scale that is not negative does not change a
    term's minimisers, so the decision is linear in the parameters and training is convex. Where a
    scale is negative at a signal, it counts as zero.

    Parameters
    ----------
    terms : sequence of Term, "auto" or "windows", default="auto"
        The sets. "auto" chooses a dictionary when it sees the number of decisions; "windows" adds
        moving averages and hypersimplices on runs of 2 to 12 decisions, which a fit of "auto" takes
        where held-out rows are predicted better.
    scale : {"auto", "affine", "constant", "index"}, default="auto"
        What the scales may be: affine in the features, constant, or piecewise linear in the one
        combination of features that explains the decisions best ("index"), such as the total
        demand that decisions add up to. The last is not negative anywhere by construction, and
        continues as a constant outside the range of the training features.
        "auto" is "affine" for terms that are given; with ``terms="auto"`` a fit takes constant or
        affine scales or an index by cross-validation.
    offset : bool, default=True
        Whether b(s), affine in the features, is learned or zero.
    n_knots : int, default=5
        Knots of the index.

    References
    ----------
    Postnikov, "Permutohedra, associahedra, and beyond", International Mathematics Research
    Notices, 2009, for the sums of simplices.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Minkowski.hypersimplices(2), cost=data.cost)
    >>> model.fit(data.signals, data.decisions).predict([[0.3], [0.8]]).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    terms: Sequence[Term] | str = "auto"
    scale: str = "auto"
    offset: bool = True
    n_knots: int = 5

    @classmethod
    def hypersimplices(cls, n: int, **options: Any) -> Minkowski:
        """Return sums of the sets of m ones among n, m = 1 to n - 1: "sort by price"."""
        _whole(n, "n", 1)
        return cls([Term(Hypersimplex(n, m)) for m in range(1, n)], **options)

    @classmethod
    def pairs(cls, n: int, **options: Any) -> Minkowski:
        """Return sums of the segments between two decisions, for every pair."""
        return cls.simplices(n, [2], **options)

    @classmethod
    def simplices(
        cls, n: int, sizes: Sequence[int], reflected: bool = False, **options: Any
    ) -> Minkowski:
        """Return sums of the simplices over every choice of so many of the decisions."""
        sign = -1.0 if reflected else 1.0
        terms = [Term(Simplex(len(each)), each, sign) for each in _choices(n, sizes)]
        return cls(terms, **options)

    @classmethod
    def windows(cls, n: int, lengths: Sequence[int], **options: Any) -> Minkowski:
        """Return sums of hypersimplices on consecutive decisions, for time series."""
        _whole(n, "n", 1)
        terms = [
            Term(each, list(range(start, start + length)))
            for length in _sizes(lengths, n, "lengths")
            for sets in [[Hypersimplex(length, m) for m in range(1, length)]]
            for start in range(n - length + 1)
            for each in sets
        ]
        return cls(terms, **options)

    @classmethod
    def smoothed(cls, n: int, lengths: Sequence[int], step: int = 1, **options: Any) -> Minkowski:
        """Return sums of hypersimplices seen through moving averages, for ramps.

        A moving average of ``length`` hours changes by at most one part in ``length`` from hour to
        hour. ``step`` takes every so many of the n - 1 hypersimplices.
        """
        _whole(n, "n", 1)
        _whole(step, "step", 1)
        terms = [
            Term(Hypersimplex(n, m), matrix=average.tolist())
            for average in (_moving_average(n, length) for length in _sizes(lengths, n, "lengths"))
            for m in range(min(step, n - 1), n, step)
        ]
        return cls(terms, **options)

    @classmethod
    def segments(cls, G: ArrayLike, **options: Any) -> Minkowski:
        """Return sums of the segments from 0 to each row of ``G``."""
        try:
            rows = np.asarray(G, dtype=float)
        except (TypeError, ValueError):
            raise DataError("Minkowski.segments: G does not hold numbers") from None
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise DataError(
                f"Minkowski.segments: G has shape {rows.shape}; expected finite numbers "
                "(segments, n)"
            )
        return cls([_segment(g) for g in rows], **options)

    @classmethod
    def box(cls, n: int, **options: Any) -> Minkowski:
        """Return boxes: a segment along each decision."""
        return cls.segments(np.eye(n), **options)

    def terms_of(self, n: int) -> list[Term]:
        """Return the terms; refuse what is none, or does not fit n decisions."""
        if isinstance(self.terms, str) or not isinstance(self.terms, Sequence):
            if self.terms not in ("auto", "windows"):
                raise UnsupportedError(
                    f"Minkowski: terms={self.terms!r} is neither 'auto' nor 'windows' nor a list "
                    "of Term"
                )
            return list(automatic(n, self.terms == "windows", self.scale == "index"))
        terms = [each for each in self.terms if isinstance(each, Term)]
        if len(terms) < len(self.terms):
            raise UnsupportedError(
                "Minkowski needs a list of Term, such as [Term(Simplex(2), [0, 1])], or 'auto'"
            )
        return terms

    def as_minkowski(self, n: int) -> Minkowski:
        """Return the hypothesis itself."""
        return self

    def check(self, n: int) -> None:
        """Refuse wrong terms and options, all of them in one error."""
        problems = Problems()
        for t, term in enumerate(self.terms_of(n)):
            term.check(n, f"term {t}", problems)
        if self.scale not in SCALES:
            problems.add(f"scale={self.scale!r} is not known; {did_you_mean(self.scale, SCALES)}")
        check_value("n_knots", self.n_knots, Integer(2), problems)
        if not self.terms_of(n) and not self.offset:
            problems.add("without terms and without an offset there is nothing to learn")
        problems.raise_if_any(DataError, "Minkowski")

    def basis(self, k: int) -> ScaleBasis:
        """Return the functions that the scales are combinations of."""
        return ScaleBasis(self.scale, k, int(self.n_knots))

    def layout(self, n: int, k: int) -> Layout:
        """Return blocks "alpha" (terms, functions), "b" (k, n) and those "knots" that are there."""
        basis, count = self.basis(k), len(self.terms_of(n))
        shapes: dict[str, tuple[int, ...]] = {}
        if count:
            shapes["alpha"] = (count, basis.size)
        if self.offset:
            shapes["b"] = (k, n)
        if count and basis.knotted:
            shapes["knots"] = basis.knots_shape
        return Layout(shapes)

    def unclipped_scales(self, theta: Array, features: Array, n: int) -> Array:
        """Return the scales as their functions say, (N, terms), negative ones included."""
        k = features.shape[1]
        blocks, count = self.layout(n, k).unpack(theta), len(self.terms_of(n))
        if not count:
            return np.zeros((len(features), 0))
        psi = self.basis(k).values(features, blocks.get("knots"))
        return np.broadcast_to(psi @ blocks["alpha"].T, (len(features), count))

    def scales(self, theta: Array, features: Array, n: int) -> Array:
        """Return the scale of each term at rows of features, (N, terms), not below zero."""
        return np.maximum(self.unclipped_scales(theta, features, n), 0.0)

    def offsets(self, theta: Array, features: Array, n: int) -> Array:
        """Return ``b(s)`` at rows of features, (N, n)."""
        blocks = self.layout(n, features.shape[1]).unpack(theta)
        return np.asarray(features @ blocks["b"]) if self.offset else np.zeros((len(features), n))

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        r"""Return the sum in the variables :math:`\zeta_t = \alpha_t z_t`, with scales as weights.

        .. math:: x = b(s) + \sum_t E_t \zeta_t, \qquad H_t \zeta_t - \alpha_t(s) h_t \in K_t

        Only right-hand sides then move with the signal.
        """
        blocks, terms = self.layout(n, k).unpack(theta), self.terms_of(n)
        alpha = np.broadcast_to(
            blocks.get("alpha", np.zeros((0, 1))), (len(terms), self.basis(k).size)
        )
        used = np.flatnonzero(alpha.any(axis=1))
        # Terms of a list often share a set.
        known = {id(terms[t].primitive): terms[t].primitive for t in used}
        latent = {key: latent_set(primitive) for key, primitive in known.items()}
        sets = [latent[id(terms[t].primitive)] for t in used]
        maps = [
            sparse(sparse(terms[t].embedding(n)) @ each.matrix)
            for t, each in zip(used, sets, strict=True)
        ]
        every = beside([sp.csr_array((n, 0)), *maps])
        sizes = [len(each.h) for each in sets]
        of_row = np.repeat(np.arange(len(used)), sizes)
        w = np.zeros((k + len(used), len(of_row)))
        w[k + of_row, np.arange(len(of_row))] = np.concatenate(
            [np.zeros(0), *(each.h for each in sets)]
        )
        M = [sp.csr_array(every.shape)] * (k + len(used))
        M[0] = every
        H = sparse(sp.block_diag([each.H for each in sets])) if sets else sp.csr_array((0, 0))
        m = np.zeros((k + len(used), n))
        if self.offset:
            m[:k] = blocks["b"]
        lifted = Lifted(
            tuple(M),
            m,
            (H, *[sp.csr_array(H.shape)] * len(M[1:])),
            w,
            tuple(cone for each in sets for cone in each.cones),
            tuple(
                Row("set", f"row {i} of term {t}")
                for t, size in zip(used, sizes, strict=True)
                for i in range(size)
            ),
        )

        def scales(features: Array) -> Array:
            return np.asarray(self.scales(theta, features, n)[:, used])

        return lifted.form(k, (), scales, tuple(f"scale of term {t}" for t in used))

    def is_curved(self, theta: Array, n: int, k: int) -> bool:
        """Say whether a term is curved; far quicker than `describe`."""
        sets = {id(each.primitive): each.primitive for each in self.terms_of(n)}
        return not all(each.conic_form().polyhedral for each in sets.values())

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return for each row a decision of least cost; a sum of sets is never empty."""
        return self.solve_tied(theta, features, costs, ties)[0]

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether a term that counts there has several minimisers."""
        return self.solve_tied(theta, features, costs)[1]

    def solve_tied(
        self, theta: Array, features: Array, costs: Array, ties: Ties = "first"
    ) -> tuple[Solved, Mask]:
        """Return what `solve` and `tied` do, from the same minimisers."""
        n = costs.shape[1]
        minimizers = TermMinimizers(self.terms_of(n), n)
        decisions, scales = self.offsets(theta, features, n), self.scales(theta, features, n)
        tied, empty = np.zeros((2, len(costs)), dtype=bool)
        for rows in minimizers.chunks(len(costs)):
            found = minimizers.at(costs[rows], ties)
            decisions[rows] += np.einsum("it,itj->ij", scales[rows], found.points)
            tied[rows] = (found.tied & (scales[rows] > 0.0)).any(axis=1)
        return Solved(decisions, empty), tied

    def support(self, theta: Array, features: Array, directions: Array) -> Array:
        """Return the support function: that of each term times its scale, and the offset."""
        n = directions.shape[1]
        reach = self._reach(theta, features.shape[1], directions)
        offsets = self.offsets(theta, features, n) @ directions.T
        return np.asarray(offsets + self.scales(theta, features, n) @ reach)

    def _reach(self, theta: Array, k: int, directions: Array) -> Array:
        """Return the support function of each term, (T, directions)."""
        terms, n = self.terms_of(directions.shape[1]), directions.shape[1]
        if not terms:
            return np.zeros((0, len(directions)))
        points = TermMinimizers(terms, n).at(-directions).points
        return np.asarray(np.einsum("dtn,dn->td", points, directions))

    def components(self, theta: Array, k: int, usage: Array, names: Sequence[str]) -> list[str]:
        """Say what the terms are, at their mean scales."""
        terms, axes = self.terms_of(len(names)), np.eye(len(names))
        if len(usage) != len(terms):
            return []  # parameters that no fit has left
        width = self._reach(theta, k, axes) + self._reach(theta, k, -axes)
        sizes = usage * width.max(axis=1, initial=0.0)
        total = float(sizes.sum())
        order = np.argsort(-sizes, kind="stable")
        used = [int(t) for t in order if sizes[t] > VISIBLE_TOL * total]
        if not used:
            return ["no term has a size: the region is the single point b(s)"]
        texts = [
            f"on average {account_of(terms[t], float(usage[t]), names)} "
            f"({100 * sizes[t] / total:.3g} % of all terms)"
            for t in used
        ]
        said = first_of(texts, "and {} smaller terms")
        if len(used) < len(terms):
            said.append(f"{len(terms) - len(used)} of {len(terms)} terms have no size")
        return said

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the region at one row of features: an image of the product of the terms."""
        scales = self.scales(theta, phi[None], n)[0]
        offset = self.offsets(theta, phi[None], n)[0]
        terms = self.terms_of(n)
        counting = [(scale, term) for scale, term in zip(scales, terms, strict=True) if scale > 0]
        if not counting:
            return AffineImage.point(offset)
        matrix = np.hstack([scale * term.embedding(n) for scale, term in counting])
        return AffineImage(Product([term.primitive for _, term in counting]), matrix, offset)

    def usage(self, theta: Array, features: Array, costs: Array) -> Array:
        """Return the mean scale of each term."""
        return np.asarray(self.scales(theta, features, costs.shape[1]).mean(axis=0))

    def account(self, theta: Array, phi: Array, names: Sequence[str]) -> list[str]:
        """Say in words what each term lets the decision maker do at one row of features."""
        n = len(names)
        scales = self.scales(theta, phi[None], n)[0]
        size = float(scales.max(initial=0.0))
        return [
            account_of(term, scale, names)
            for scale, term in zip(scales, self.terms_of(n), strict=True)
            if scale > VISIBLE_TOL * size
        ]

    def __repr__(self) -> str:
        terms = repr(self.terms) if isinstance(self.terms, str) else _listed(self.terms)
        options = "" if self.offset else ", offset=False"
        return f"Minkowski({terms}, scale={self.scale!r}{options})"


def _listed(terms: Sequence[Term]) -> str:
    return repr(list(terms)) if len(terms) <= 3 else f"<{len(terms)} terms>"


# Terms that nobody has given.


def _moving_average(n: int, length: int) -> Array:
    """Return the matrix whose column t spreads one unit over the hours around t."""
    matrix = np.zeros((n, n))
    for t in range(n):
        start = t - (length - 1) // 2
        hours = [hour for hour in range(start, start + length) if 0 <= hour < n]
        matrix[hours, t] = 1.0 / len(hours)
    return matrix


def _segment(g: np.ndarray) -> Term:
    along = np.flatnonzero(g)
    if len(along) == 1:
        return Term(Box(1, 0.0, 1.0), [int(along[0])], float(g[along[0]]))
    return Term(Box(1, 0.0, 1.0), matrix=g[:, None].tolist())


# Asked for by every region; hundreds of terms take milliseconds to make.
@lru_cache(maxsize=8)
def automatic(n: int, wide: bool = False, both: bool = False) -> tuple[Term, ...]:
    """Return what serves n decisions of which nothing else is known.

    ``wide`` adds what serves time series, ``both`` segments along each decision downwards: with
    scales that bend, both of its limits may do so.
    """
    # Few decisions: hypersimplices, all pairs, and a segment along each decision. Many are taken
    # for a time series, with moving averages over up to six decisions instead of pairs.
    along = np.vstack([np.eye(n), -np.eye(n)]) if both else np.eye(n)
    parts = [Minkowski.segments(along)]
    few = n <= MOST_PAIRS
    if n > 1:
        averages = Minkowski.smoothed(n, range(2, min(n, 6) + 1), max(n // 12, 1))
        # Two decisions have one pair, which is a hypersimplex as well.
        near = Minkowski.simplices(n, [2] if n > 2 else []) if few else averages
        parts = [Minkowski.hypersimplices(n), near, *parts]
        if wide:
            # Pairs of neighbours are there already where all pairs are.
            lengths = [length for length in LENGTHS if length < n and (length > 2 or not few)]
            parts += [*([averages] if few else []), Minkowski.windows(n, lengths)]
    return tuple(term for part in parts for term in part.terms_of(n))


def _choices(n: int, sizes: Sequence[int]) -> Iterable[list[int]]:
    _whole(n, "n", 1)
    known = _sizes(sizes, n, "sizes")
    count = sum(comb(n, size) for size in known)
    if count > MOST_TERMS:
        raise DataError(
            f"Minkowski: {count} simplices over {n} decisions are too many to list; take "
            "smaller sizes"
        )
    return (list(chosen) for size in known for chosen in combinations(range(n), size))


def _sizes(sizes: Sequence[int], n: int, name: str) -> list[int]:
    if not isinstance(sizes, Iterable):
        raise DataError(f"Minkowski: {name}={sizes!r} is not a list of integers")
    known = list(sizes)
    for size in known:
        _whole(size, name, 2)
        if size > n:
            raise DataError(f"Minkowski: {name} holds {size}, but there are {n} decisions")
    return known


def _whole(value: object, name: str, least: int) -> None:
    require(value, name, Integer(least), "Minkowski")
