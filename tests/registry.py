"""One registry of example sets: the property tests of sets, regions and losses run over it.

Every primitive set stands here several times, with the parametrisations that tend to break code:
single points, flat sets, degenerate corners, sets too large for a list of vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import lsq_linear

import feaslearn as fl
from feaslearn.known import KnownLimits
from feaslearn.sets import Box, Hypersimplex, L1Ball, L2Ball, Polytope, PrimitiveSet, Simplex
from feaslearn.sets.conic_set import ConicSet
from feaslearn.sets.product import Product
from feaslearn.solvers.conic_form import Cone, ConeKind

Array = NDArray[np.float64]

#: For properties that are tried on every set of this file: a quarter of the cases for each set.
FOR_EACH_SET = settings(max_examples=max(4, settings.default.max_examples // 4))

TRIANGLE = ([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]], [0.0, 0.0, -2.0])


def octahedron() -> Polytope:
    """Four facets meet at every corner of three dimensions: all corners are degenerate."""
    signs = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
    return Polytope(signs, np.full(8, -1.0))


def square_pyramid() -> Polytope:
    """Four walls at the apex, a repeated row, and a row that touches one corner only."""
    walls = [[1.0, 0, -1], [-1.0, 0, -1], [0.0, 1, -1], [0.0, -1, -1]]
    H = [[0.0, 0, 1], *walls, [0.0, 0, 2], [-1.0, -1, 0]]
    return Polytope(H, [0.0, -1, -1, -1, -1, 0, -2])


def flow_polytope() -> Polytope:
    """Three flows that balance: a triangle that lies flat in three dimensions."""
    return Polytope(np.eye(3), np.zeros(3), [[1.0, 2.0, 3.0]], [6.0])


def hidden_flat() -> Polytope:
    """Two opposite rows make an equality that nobody called one."""
    H = [[1.0, 1, 1], [-1.0, -1, -1], [1.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1]]
    return Polytope(H, [1.0, -1, 0, 0, 0])


def unit_cube_cut(p: int) -> Polytope:
    """A unit cube whose weighted sum is limited: too many entries for a list of vertices."""
    H = np.vstack([np.eye(p), -np.eye(p), -np.arange(1.0, p + 1)])
    return Polytope(H, np.concatenate([np.zeros(p), -np.ones(p), [-p * (p + 1) / 4.0]]))


def transport() -> Polytope:
    """Three supplies sent to four demands: 12 flows in a flat of 6 dimensions."""
    leaving = np.kron(np.eye(3), np.ones(4))
    arriving = np.kron(np.ones(3), np.eye(4))
    E, e = np.vstack([leaving, arriving]), np.array([3.0, 4, 5, 2, 3, 3, 4])
    return Polytope(np.eye(12), np.zeros(12), E, e)


def cube(p: int) -> tuple[Array, Array]:
    """Return the rows of the unit cube."""
    return np.vstack([np.eye(p), -np.eye(p)]), np.repeat([0.0, -1.0], p)


def conic_set(H: ArrayLike, h: ArrayLike, *cones: tuple[ConeKind, int]) -> ConicSet:
    """Return a set by its rows and cones."""
    rows, right = np.asarray(H, dtype=float), np.asarray(h, dtype=float)
    return ConicSet(rows, right, tuple(Cone(*cone) for cone in cones))


def half_disc() -> ConicSet:
    """The upper half of the unit disc."""
    H = np.array([[0.0, 0], [1, 0], [0, 1], [0, 1]])
    return conic_set(H, [-1.0, 0, 0, 0], ("second-order", 3), ("nonnegative", 1))


def cut_ellipsoid() -> ConicSet:
    """An ellipsoid with its middle at (1, 0, -1), cut by a half-space."""
    shape = np.array([[2.0, 0.3, 0.0], [0.0, 1.0, -0.4], [0.0, 0.0, 0.5]])
    H = np.vstack([np.zeros(3), shape, [-1.0, -1.0, 0.0]])
    h = np.concatenate([[-1.0], shape @ [1.0, 0.0, -1.0], [-1.2]])
    return conic_set(H, h, ("second-order", 4), ("nonnegative", 1))


def ice_cream() -> ConicSet:
    """The cone ``|(z_1, z_2)| <= z_0 <= 1``: an apex, a circle, and edges between them."""
    H = np.vstack([np.eye(3), [-1.0, 0.0, 0.0]])
    return conic_set(H, [0.0, 0, 0, -1], ("second-order", 3), ("nonnegative", 1))


def disc_in_a_plane() -> ConicSet:
    """A disc cut from a ball by a plane that goes past its middle."""
    H = np.vstack([np.zeros(3), np.eye(3), [1.0, 1.0, 1.0]])
    return conic_set(H, [-1.0, 0, 0, 0, 0.5], ("second-order", 4), ("zero", 1))


def parabola_cap() -> ConicSet:
    """The matrices ``[[1, z_0], [z_0, z_1]]`` without negative eigenvalues, ``z_1 <= 1``."""
    H = [[0.0, 0], [np.sqrt(2.0), 0], [0, 1], [0, -1]]
    return conic_set(H, [-1.0, 0, 0, -1], ("semidefinite", 3), ("nonnegative", 1))


def elliptope() -> ConicSet:
    """Correlations of three numbers: four corners, six edges between them, curved elsewhere."""
    H, off = np.zeros((6, 3)), [1, 3, 4]
    H[off, range(3)] = np.sqrt(2.0)
    return conic_set(H, [-1.0, 0, -1, 0, 0, -1], ("semidefinite", 6))


def polyhedral_cone_set() -> ConicSet:
    """A conic set without curved rows."""
    return conic_set(*TRIANGLE, ("nonnegative", 3))


SETS: dict[str, Callable[[], PrimitiveSet]] = {
    "simplex-1": lambda: Simplex(1),
    "simplex-2": lambda: Simplex(2),
    "simplex-5": lambda: Simplex(5),
    "box-1": lambda: Box(1),
    "box-3": lambda: Box(3),
    "box-vector-limits": lambda: Box(3, [-1.0, 0.0, 2.0], [0.5, 4.0, 2.5]),
    "box-degenerate": lambda: Box(4, [0.0, 1.0, -1.0, 2.0], [1.0, 1.0, 2.0, 2.0]),
    "box-point": lambda: Box(2, [1.0, -3.0], [1.0, -3.0]),
    "l1-ball-1": lambda: L1Ball(1),
    "l1-ball-4": lambda: L1Ball(4),
    "l2-ball-1": lambda: L2Ball(1),
    "l2-ball-3": lambda: L2Ball(3),
    "hypersimplex-one": lambda: Hypersimplex(4, 1),
    "hypersimplex-middle": lambda: Hypersimplex(6, 3),
    "hypersimplex-all": lambda: Hypersimplex(3, 3),
    "polytope-triangle": lambda: Polytope(*TRIANGLE),
    "polytope-interval": lambda: Polytope([[2.0], [-1.0]], [-4.0, -3.0]),
    "polytope-point": lambda: Polytope(np.eye(2), np.zeros(2), [[1.0, 1.0]], [0.0]),
    "polytope-flow": flow_polytope,
    "polytope-hidden-flat": hidden_flat,
    "polytope-octahedron": octahedron,
    "polytope-pyramid": square_pyramid,
    "polytope-big": lambda: unit_cube_cut(10),
    "polytope-transport": transport,
    "conic-half-disc": half_disc,
    "conic-cut-ellipsoid": cut_ellipsoid,
    "conic-ice-cream": ice_cream,
    "conic-disc-in-a-plane": disc_in_a_plane,
    "conic-polyhedral": polyhedral_cone_set,
    "product-polyhedral": lambda: Product([Simplex(3), Box(2), Hypersimplex(3, 2)]),
    "product-with-ball": lambda: Product([L2Ball(2), L1Ball(2), Box(1, 0.0, 3.0)]),
    "product-nested": lambda: Product([Product([Simplex(2), Polytope(*TRIANGLE)]), L1Ball(2)]),
    "product-with-conic": lambda: Product([half_disc(), Simplex(2)]),
}

#: Sets that hold their binary points alone.
BINARY_SETS: dict[str, Callable[[], PrimitiveSet]] = {
    "binary-simplex-1": lambda: Simplex(1, binary=True),
    "binary-simplex-4": lambda: Simplex(4, binary=True),
    "binary-cube": lambda: Polytope(*cube(3), binary=True),
    "binary-knapsack": lambda: Polytope([[-2.0, -3.0, -4.0, -1.0]], [-5.0], binary=True),
    "binary-assignment": lambda: Polytope(
        np.eye(4), np.zeros(4), [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], np.ones(3), True
    ),
    "binary-point": lambda: Polytope([[1.0, 1.0]], [2.0], binary=True),
    "binary-product": lambda: Product([Simplex(2, True), Polytope(*cube(2), binary=True)]),
}

#: Sets with semidefinite cones, which the paper's class holds and exports do not.
SEMIDEFINITE_SETS: dict[str, Callable[[], PrimitiveSet]] = {
    "semidefinite-parabola-cap": parabola_cap,
    "semidefinite-elliptope": elliptope,
}

NAMES = tuple(SETS)
EVERY_SET = {**SETS, **BINARY_SETS, **SEMIDEFINITE_SETS}


@cache
def example(name: str) -> PrimitiveSet:
    """Return the set of that name; sets hold no state, so tests share them."""
    return EVERY_SET[name]()


@cache
def is_polyhedral(name: str) -> bool:
    """Say whether only linear rows describe the set of that name."""
    return example(name).conic_form().polyhedral


#: One set of each kind, for tests that combine sets with something else.
ONE_OF_EACH = (
    "simplex-5",
    "box-degenerate",
    "l1-ball-4",
    "l2-ball-3",
    "hypersimplex-middle",
    "polytope-flow",
    "polytope-big",
    "conic-half-disc",
    "product-polyhedral",
    "product-with-ball",
)
POLYHEDRAL = tuple(name for name in NAMES if is_polyhedral(name))
CURVED = tuple(name for name in NAMES if not is_polyhedral(name))


def entries(low: float = -10.0, high: float = 10.0) -> st.SearchStrategy[float]:
    """Draw small whole numbers, which tie, and decimal numbers, which seldom do."""
    return st.one_of(
        st.integers(-2, 2).map(float), st.floats(low, high).map(lambda value: round(value, 6))
    )


@cache
def vectors(p: int) -> st.SearchStrategy[Array]:
    """Draw costs or points of p entries, at three scales, with ties and zeros among them."""
    scales = st.sampled_from([1.0, 1.0, 1.0, 1e-4, 1e4])
    return st.builds(np.multiply, scales, arrays(np.float64, p, elements=entries()))


@cache
def points(p: int) -> st.SearchStrategy[Array]:
    """Draw points of p entries in the neighbourhood of the sets."""
    return arrays(np.float64, p, elements=entries(-5.0, 5.0))


@cache
def generators() -> st.SearchStrategy[np.random.Generator]:
    """Draw a source of random arrays, for those too large to be drawn entry by entry."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def random_map(rng: np.random.Generator, n: int, p: int) -> Array:
    """Return a matrix: of full rank, flat, of small whole numbers, or with rows of all sizes."""
    kind = rng.integers(4)
    if kind == 0:
        return np.asarray(rng.normal(size=(n, 1)) @ rng.normal(size=(1, p)))
    if kind == 1:
        return rng.integers(-2, 3, size=(n, p)).astype(float)
    sizes = 10.0 ** rng.integers(-2, 3, size=(n, 1)) if kind == 2 else np.ones((n, 1))
    return np.asarray(sizes * rng.normal(size=(n, p)))


def mixtures(primitive: PrimitiveSet, rng: np.random.Generator, count: int) -> Array:
    """Return points of a set: mixtures of minimisers of random costs."""
    ends = primitive.argmin(rng.normal(size=(4, primitive.dimension)))
    return np.asarray(rng.dirichlet(np.ones(4), size=count) @ ends)


@cache
def size_of(name: str) -> float:
    """Return how large the points of the set of that name are, and at least one."""
    p = example(name).dimension
    return max(1.0, float(np.abs(example(name).minimum(np.vstack([np.eye(p), -np.eye(p)]))).max()))


def known_limits(count: int, n: int, **given: ArrayLike) -> KnownLimits:
    """Return known constraints of samples, none but those given; one right side is for all."""
    rows = {key: np.asarray(given.get(key, np.zeros((0, n))), dtype=float) for key in "GE"}
    sides: dict[str, ArrayLike] = {"g": np.zeros(0), "e": np.zeros(0), "lower": -np.inf}
    widths = {"g": len(rows["G"]), "e": len(rows["E"]), "lower": n, "upper": n}
    sides = {"upper": np.inf} | sides | given
    for key, width in widths.items():
        rows[key] = np.array(np.broadcast_to(sides[key], (count, width)), dtype=float)
    return KnownLimits(**rows)


def fit_rows(
    signals: Any, decisions: Any, hypothesis: Any = None, **options: Any
) -> fl.RegionRegressor:
    """Return the model of signals whose first columns are the costs of the decisions."""
    given = {"cost": list(range(np.shape(decisions)[1])), "random_state": 0} | options
    return fl.RegionRegressor(hypothesis, **given).fit(signals, decisions)


def fit_to(data: Any, hypothesis: Any = None, **options: Any) -> fl.RegionRegressor:
    """Return the model of a data set whose cost is that of the data."""
    return fit_rows(data.signals, data.decisions, hypothesis, cost=data.cost, **options)


#: Sets of three decisions that a scale and an offset turn into regions.
SCALED_SETS: dict[str, PrimitiveSet] = {
    "simplex": Simplex(3),
    "box": Box(3, -1.0, [1.0, 2.0, 0.5]),
    "l1-ball": L1Ball(3),
    "l2-ball": L2Ball(3),
    "hypersimplex": Hypersimplex(3, 2),
    "polytope": Polytope(np.vstack([np.eye(3), -np.ones((1, 3))]), [0.0, 0.0, 0.0, -1.0]),
}


def scaled_least_squares(samples: Any, primitive: PrimitiveSet) -> Any:
    """Return the best scale, not negative, and offset of a set, by a solver of least squares."""
    rows, right = [], []
    for phi, z, x, w in zip(
        samples.features,
        primitive.argmin(samples.costs),
        samples.decisions,
        samples.weights,
        strict=True,
    ):
        for j in np.flatnonzero(~np.isnan(x)):
            block = np.zeros((len(phi), len(x)))
            block[:, j] = phi
            rows.append(np.sqrt(w) * np.concatenate([[z[j]], block.ravel()]))
            right.append(np.sqrt(w) * x[j])
    lower = np.append(0.0, np.full(len(rows[0]) - 1, -np.inf))
    return lsq_linear(np.array(rows), np.array(right), (lower, np.inf), method="bvls", tol=1e-14)
