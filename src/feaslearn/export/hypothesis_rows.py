"""How the rows of each hypothesis move with the signal."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.exceptions import UnsupportedError
from feaslearn.export.blended import blended
from feaslearn.export.description import Description, beside, sparse
from feaslearn.export.known_rows import KnownRows
from feaslearn.export.latent_set import latent_set
from feaslearn.export.region_description import mapped
from feaslearn.hypotheses import Blend, Facets, Minkowski
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.product import Product
from feaslearn.sets.simplex import Simplex

Array = NDArray[np.float64]


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
