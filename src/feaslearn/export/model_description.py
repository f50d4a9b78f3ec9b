"""The description of a fitted model: the whole map from signals to regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError, EmptySetError, UnsupportedError
from feaslearn.export.description import Description, below, beside, sparse
from feaslearn.export.latent_set import latent_set
from feaslearn.export.naming import distinct_names
from feaslearn.export.region_description import mapped
from feaslearn.hypotheses import Blend, Facets, Minkowski
from feaslearn.hypotheses.constrained import constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.known import KnownLimits, KnownShape, ResolvedKnown
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.regressor.learned_region import LearnedRegion
from feaslearn.regressor.reader import check_fitted, check_signals, decision_names, one_row
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.product import Product
from feaslearn.sets.simplex import Simplex
from feaslearn.solvers.conic_form import Cone

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelDescription:
    """The rows of a fitted model, and what their coefficients are at a signal.

    Parameters
    ----------
    model : LearnedRegion
        The fitted model.
    description : Description
        Its rows.
    scales : callable
        The last coefficients, as a function of the features.
    known : KnownRows, default=None
        The coefficients between: right-hand sides of what is known.
    """

    model: LearnedRegion
    description: Description
    scales: Callable[[Array], Array]
    known: KnownRows | None = None

    def coefficients(self, signal: ArrayLike) -> Array:
        """Return the coefficients at a signal, or a frame of one row.

        Raises
        ------
        EmptySetError
            Where the rows of the model leave no point.
        """
        signals = check_signals(self.model, one_row(signal))
        if len(signals) != 1:
            raise DataError(f"{len(signals)} signals were given; give one")
        phi = columns = self.model.features_.transform(signals)
        regions, right_sides = self.model.hypothesis_, np.zeros(0)
        if self.known is not None and self.model.known_ is not None:
            limits = self.model.known_.at(signals)
            right_sides = self.known.coefficients(limits)
            columns = np.hstack([phi, limits.columns()])
            regions = constrained(regions, limits.shape)
        nothing = np.zeros((1, self.description.n))
        if regions.solve(self.model.theta_, columns, nothing).empty[0]:
            raise EmptySetError(
                "no decision satisfies all learned and known rows at this signal; "
                "model.region(signal) relaxes them as little as possible: export that"
            )
        return np.concatenate([phi[0], right_sides, self.scales(phi[0])])


def describe_model(model: LearnedRegion) -> ModelDescription:
    """Return the rows of a fitted model."""
    check_fitted(model)
    names, known = decision_names(model), None
    if model.known_ is not None:
        known = KnownRows.of(model.known_, names, model.features_.n_signals)
    features = distinct_names(model.features_.names)
    parts = describe_within(model.hypothesis_, model.theta_, names, features, known)
    return ModelDescription(model, *parts, known)


# How the rows of each hypothesis move with the signal.


class Parts(NamedTuple):
    """The rows of a hypothesis, and the coefficients that it adds to the features."""

    description: Description
    scales: Callable[[Array], Array]


@singledispatch
def describe(
    hypothesis: Hypothesis, _theta: Array, _names: tuple[str, ...], _features: tuple[str, ...]
) -> Parts:
    """Return the rows of a hypothesis with given parameters."""
    raise UnsupportedError(
        f"nothing here says how {hypothesis!r} moves with the signal; export model.region(signal)"
    )


@describe.register
def _(
    hypothesis: MapHypothesis, theta: Array, names: tuple[str, ...], features: tuple[str, ...]
) -> Parts:
    """Return ``x = sum_k phi_k (A_k z + b_k)``."""
    maps = hypothesis.maps(theta, len(names), len(features))
    latent = latent_set(hypothesis.latent(len(names)))
    return Parts(mapped(names, latent, [sparse(A) for A in maps.A], maps.b, features), _no_scales)


@describe.register
def _(
    hypothesis: Minkowski, theta: Array, names: tuple[str, ...], features: tuple[str, ...]
) -> Parts:
    """Return ``x = sum_k phi_k b_k + sum_t alpha_t E_t z_t``, where alpha_t is a coefficient."""
    n, k = len(names), len(features)
    blocks, terms = hypothesis.layout(n, k).unpack(theta), hypothesis.terms_at(theta, n, k)
    b = blocks["b"] if hypothesis.offset else np.zeros((k, n))
    alpha = np.broadcast_to(
        blocks.get("alpha", np.zeros((0, 1))), (len(terms), hypothesis.basis(k).size)
    )
    used = np.flatnonzero(alpha.any(axis=1))
    sets = [terms[t].primitive for t in used]
    widths = np.cumsum([0, *(primitive.dimension for primitive in sets)])
    # Without any term the region is the point b(s): the image of a set of one point.
    product: PrimitiveSet = Product(sets) if sets else Simplex(1)
    latent = latent_set(product)
    A = [sp.csr_array((n, product.dimension)) for _ in range(k)]
    for t, left, right in zip(used, widths[:-1], widths[1:], strict=True):
        gap = sp.csr_array((n, int(left))), sp.csr_array((n, int(widths[-1] - right)))
        A.append(beside([gap[0], sparse(terms[t].embedding(n)), gap[1]]))
    right_sides = np.vstack([b, np.zeros((len(used), n))])
    coefficients = (*features, *(f"scale of term {t}" for t in used))

    def scales(phi: Array) -> Array:
        return np.asarray(hypothesis.scales(theta, phi[None], n)[0, used])

    return Parts(mapped(names, latent, A, right_sides, coefficients), scales)


@describe.register
def _(hypothesis: Facets, theta: Array, names: tuple[str, ...], features: tuple[str, ...]) -> Parts:
    """Return equalities, bounds and facets: rows of the decisions themselves."""
    n, k = len(names), len(features)
    rows = hypothesis.rows(theta, n, k)
    A, b = np.vstack([np.eye(n), -np.eye(n), rows.a]), np.vstack([rows.upper, -rows.lower, rows.f])
    free = Description(
        names,
        sp.csr_array((0, n)),
        tuple(sp.csr_array((0, 0)) for _ in features),
        np.zeros((k, 0)),
        (),
        np.zeros(0, dtype=bool),
        features,
    )
    return Parts(free.cut(A, b.T, rows.E, rows.e.T), _no_scales)


def describe_within(
    hypothesis: Hypothesis,
    theta: Array,
    names: tuple[str, ...],
    features: tuple[str, ...],
    known: KnownRows | None,
) -> Parts:
    """Return the rows of a hypothesis within what is known; of a blend, each member within it."""
    k = len(features)
    if isinstance(hypothesis, Blend):
        given = hypothesis.parts(theta, len(names), k)
        members = [
            describe_within(member, part, names, features, known) for _, member, part in given
        ]
        total = sum(weight for weight, _, _ in given)
        maps = [weight / total * np.eye(len(names)) for weight, _, _ in given]
        shared = k if known is None else k + len(known.names)
        rows = blended(names, shared, maps, [each.description for each in members])
        return Parts(rows, lambda phi: np.concatenate([each.scales(phi) for each in members]))
    parts = describe(hypothesis, theta, names, features)
    if known is None:
        return parts
    project = not isinstance(hypothesis, Facets)
    return Parts(known.within(parts.description, k, project=project), parts.scales)


def _no_scales(_phi: Array) -> Array:
    return np.zeros(0)


# Known constraints of a fitted model, whose right-hand sides move with the signal.


@dataclass(frozen=True, eq=False)
class KnownRows:
    r"""The rows :math:`G x \ge g(s),\; l(s) \le x \le u(s),\; E x = e(s)` that are there.

    Parameters
    ----------
    shape : KnownShape
        G and E.
    there : ndarray of bool
        Which right-hand sides are not infinite, in the order of `KnownLimits.columns`.
    names : tuple of str
        Names of those that are: coefficients of the description.
    """

    shape: KnownShape
    there: NDArray[np.bool_]
    names: tuple[str, ...]

    @classmethod
    def of(cls, known: ResolvedKnown, decisions: tuple[str, ...], n_signals: int) -> KnownRows:
        """Return the rows; bounds that are not there are so at every signal."""
        anywhere, sides = np.zeros((1, n_signals)), []
        for side in (known.g, known.lower, known.upper, known.e):
            try:
                sides.append(np.isfinite(side.evaluate(anywhere)[0]))
            except DataError:
                # A function that does not take zeros gives numbers elsewhere.
                sides.append(np.ones(side.size, dtype=bool))
        there = np.concatenate(sides)
        labels = [f"known: {name}" for name in known.row_names(decisions)]
        names = tuple(name for name, kept in zip(labels, there, strict=True) if kept)
        return cls(known.shape, there, names)

    def coefficients(self, limits: KnownLimits) -> Array:
        """Return the right-hand sides at one signal."""
        values = limits.columns()[0]
        if not np.array_equal(np.isfinite(values), self.there):
            raise UnsupportedError(
                "a known bound is infinite at some signals and finite at others, which no fixed "
                "set of rows can say; export model.region(signal)"
            )
        return np.asarray(values[self.there])

    def within(self, learned: Description, k: int, *, project: bool) -> Description:
        """Return a description within the rows; its first k coefficients are the features.

        The learned region is projected onto the equalities first if that is asked.
        """
        count, m, n = len(self.names), len(learned.r[0]), learned.n
        none = tuple(sp.csr_array(learned.Z[0].shape) for _ in range(count))
        wider = replace(
            learned,
            Z=(*learned.Z[:k], *none, *learned.Z[k:]),
            r=np.vstack([learned.r[:k], np.zeros((count, m)), learned.r[k:]]),
            coefficients=(*learned.coefficients[:k], *self.names, *learned.coefficients[k:]),
        )
        # Which coefficient is the right-hand side of which row: G, lower, upper, E.
        right = np.zeros((len(wider.coefficients), len(self.there)))
        right[k : k + count] = np.eye(len(self.there))[self.there]
        sizes = np.cumsum([len(self.shape.G), n, n])
        g, lower, upper, e = np.split(right, sizes, axis=1)
        if project and len(self.shape.E):
            inverse = pseudo_inverse(self.shape.E)
            onto = np.eye(n) - inverse @ self.shape.E
            wider = blended(learned.names, len(wider.coefficients), [onto], [wider], e @ inverse.T)
        rows = np.vstack([-self.shape.G, -np.eye(n), np.eye(n)])
        limits = np.hstack([-g, -lower, upper])
        kept = self.there[: len(rows)]
        E, e = (self.shape.E[:0], e[:, :0]) if project else (self.shape.E, e)
        return wider.cut(rows[kept], limits[:, kept], E, e)


# The description of a weighted sum of regions that are described already.


def blended(
    names: tuple[str, ...],
    k: int,
    maps: Sequence[Array],
    members: Sequence[Description],
    offset: Array | None = None,
) -> Description:
    """Return ``x = sum_t M_t x_t + sum_k w_k o_k`` with each x_t in a region.

    The members share their first k coefficients; each has its own after them, which stand one
    after the other here. The offset is (k, n).
    """
    n = len(names)
    starts = np.cumsum([k, *(len(member.coefficients) - k for member in members)])
    count, m = int(starts[-1]), sum(len(member.r[0]) for member in members)
    r = np.zeros((count, n + m))
    if offset is not None:
        r[:k, :n] = offset
    bodies: list[list[sp.csr_array]] = [[] for _ in range(count)]
    row = n
    for t, member in enumerate(members):
        size = len(member.r[0])
        places = [*range(k), *range(int(starts[t]), int(starts[t + 1]))]
        r[places, row : row + size] = member.r
        row += size
        for j, block in enumerate(_with_decisions(member, places, count)):
            bodies[j].append(block)
    mix = beside(
        [
            beside([sparse(M), sp.csr_array((n, member.p))])
            for M, member in zip(maps, members, strict=True)
        ]
    )
    heads = [-mix, *(sp.csr_array(mix.shape) for _ in range(count - 1))]
    Z = [
        below([head, sparse(sp.block_diag(body))]) for head, body in zip(heads, bodies, strict=True)
    ]
    return Description(
        names,
        below([sparse(sp.eye_array(n)), sp.csr_array((m, n))]),
        tuple(Z),
        r,
        (Cone("zero", n), *(cone for member in members for cone in member.cones)),
        np.concatenate([np.append(np.zeros(n, dtype=bool), member.binary) for member in members]),
        (*members[0].coefficients[:k], *_own_names(k, members)),
    )


def _with_decisions(member: Description, places: list[int], count: int) -> list[sp.csr_array]:
    """Return what multiplies the decisions of a member, latent variables now, and its own z."""
    nothing = sp.csr_array((len(member.r[0]), member.n + member.p))
    blocks = [nothing for _ in range(count)]
    for j, Z in zip(places, member.Z, strict=True):
        blocks[j] = beside([sp.csr_array(member.X.shape) if j else member.X, Z])
    return blocks


def _own_names(k: int, members: Sequence[Description]) -> list[str]:
    if len(members) == 1:
        return list(members[0].coefficients[k:])
    return [
        f"member {t}: {name}"
        for t, member in enumerate(members)
        for name in member.coefficients[k:]
    ]
