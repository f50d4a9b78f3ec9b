"""Supporting hyperplanes of rows of least weighted slack.

``min g't : Z t >= 0, v't = 1`` by the primal simplex method on the rows. A vertex is a set of R - 1
rows on which t is zero; when only g changes the last vertex is still feasible, so that reweighting
goes on from there. A first vertex is not searched for: the method starts inside of the cone with
artificial rows that may leave in either direction and never come back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Multipliers and rates below this, relative to the largest, are zero.
ZERO = 1e-9
#: Coefficients of a row in others below this are zero: solvers leave 1e-6, bases are not perfect.
ZERO_SHARE = 1e-5
#: Pivots for each parameter after which a vertex is good enough.
PIVOTS = 12


@kernel
def start_ray(
    Z: Array,
    v: Array,
    inside: Array,
    basis: Indices,
    inverse: Array,
    t: Array,
    slack: Array,
) -> bool:
    """Put t with v't > 0 into the cone by adding ``inside``, on artificial rows; False if v't <= 0.

    ``basis`` (R - 1,) numbers of rows, -1 for artificial ones; ``inverse`` (R, R) of those rows
    above v, transposed. ``inside`` is positive on every row and has v'inside = 0.
    """
    N, R = Z.shape
    size = v @ t
    if not size > 0.0:
        return False
    along, room = Z @ t, Z @ inside
    need = 0.0
    for i in range(N):
        need = max(need, -along[i] / room[i])
    for j in range(R):
        t[j] = (t[j] + need * inside[j]) / size
    first = 0
    for j in range(R):
        if abs(v[j]) > abs(v[first]):
            first = j
    inverse[:] = 0.0
    k = 0
    for j in range(R):
        if j == first:
            continue
        basis[k] = -1
        inverse[k, j] = 1.0
        inverse[k, first] = -v[j] / v[first]
        k += 1
    inverse[R - 1, first] = 1.0 / v[first]
    slack[:] = Z @ t
    return True


@kernel
def lower_ray(Z: Array, g: Array, basis: Indices, inverse: Array, t: Array, slack: Array) -> bool:
    """Descend from a vertex to one of least g't; False if there is none."""
    N, R = Z.shape
    inside = np.zeros(N, dtype=np.bool_)
    for k in range(R - 1):
        if basis[k] >= 0:
            inside[basis[k]] = True
    length = np.sqrt(g @ g)
    for _ in range(PIVOTS * R):
        prices = inverse @ g
        best, leaving, sign = 0.0, -1, 1.0
        for k in range(R - 1):
            gain = abs(prices[k]) if basis[k] < 0 else -prices[k]
            if gain <= 0.0:
                continue
            gain /= np.sqrt(inverse[k] @ inverse[k])
            if basis[k] < 0:
                gain *= 10.0  # artificial rows leave first
            if gain > best:
                best, leaving = gain, k
                sign = -1.0 if prices[k] > 0.0 else 1.0
        if leaving < 0 or best <= ZERO * length:
            return True
        d = sign * inverse[leaving]
        size = np.sqrt(d @ d)
        rate = Z @ d
        # The least ratio, then among rows that it reaches within rounding the steepest.
        ratio = np.inf
        for i in range(N):
            if not inside[i] and rate[i] < -ZERO * size:
                ratio = min(ratio, (max(slack[i], 0.0) + ZERO) / -rate[i])
        if ratio == np.inf:
            return False
        entering, steepest = -1, 0.0
        for i in range(N):
            if inside[i] or -rate[i] <= max(steepest, ZERO * size):
                continue
            if max(slack[i], 0.0) <= ratio * -rate[i]:
                entering, steepest = i, -rate[i]
        step = max(slack[entering], 0.0) / steepest
        for j in range(R):
            t[j] += step * d[j]
        for i in range(N):
            slack[i] += step * rate[i]
        if basis[leaving] >= 0:
            inside[basis[leaving]] = False
        inside[entering] = True
        basis[leaving] = entering
        row = inverse @ Z[entering]
        inverse[leaving] /= row[leaving]
        for k in range(R):
            if k != leaving and row[k] != 0.0:
                for j in range(R):
                    inverse[k, j] -= row[k] * inverse[leaving, j]
    return True


@kernel
def heaviest_ray(
    Z: Array,
    v: Array,
    start: Array,
    inside: Array,
    rows: Indices,
    ways: Array,
    several: Mask,
    duals: Array,
    spans: Indices,
    through: Array,
    weights: Array,
    noise: Array,
    errors: Array,
    W: Array,
    cov: Array,
    limits: Array,
) -> tuple[Array, int]:
    """Reweighted l1 from a ray with v't > 0: one that most of the open rows lie on, and its excess.

    The ray begins at ``start``, moved ``inside`` as far as it needs. Open ``rows`` have ``ways``
    (u, nw) out of the region, ``several`` where it is not unique, and ``duals`` from ``spans[k,
    0]`` to ``spans[k, 1]`` that are not negative where a facet makes the row optimal. A row counts
    the more the nearer it is and the less its duals are violated, times ``noise`` (rounds, u). Rows
    miss a ray by less than the larger of ``limits[0]`` and ``limits[1]`` standard deviations of
    their errors: ``errors`` (u, n) are variances of decisions, whose coordinates are ``W`` (n, nw),
    with no column where rows are exact, and ``cov`` (R, R) is the mean covariance of errors of Z.
    ``limits[2:]`` are the excess that is enough, the violation that counts as zero, and the weight
    of violations. A ray has R zeros where none was found.
    """
    u, nw = ways.shape
    N, R = Z.shape
    exact, spread, enough, optimal, blame = limits
    best, best_score = np.zeros(R), np.array([-1.0, -1.0, -1.0])
    basis, inverse = np.zeros(R - 1, np.int64), np.zeros((R, R))
    t, slack = start.copy(), np.zeros(N)
    if not start_ray(Z, v, inside, basis, inverse, t, slack):
        return best, 0
    place = np.full(N, -1)
    near, wrong = np.zeros(u), np.zeros(u)
    blocked = np.zeros(u, dtype=np.bool_)
    w, eps = weights.copy(), 1.0
    for turn in range(len(noise)):
        g = through.copy()
        total = w.sum()
        for k in range(u):
            for j in range(R):
                g[j] += w[k] / total * Z[rows[k], j]
        if not lower_ray(Z, g, basis, inverse, t, slack):
            break
        size = np.sqrt((t[:nw] ** 2).sum())
        if not (size > 1e-12 and np.isfinite(size)):
            break
        s = t / size
        a = W @ s[:nw]
        of_features = max(float(s[nw:] @ (np.ascontiguousarray(cov[nw:, nw:]) @ s[nw:])), 0.0)
        on = np.zeros(u, dtype=np.bool_)
        count_on = 0
        for k in range(u):
            near[k] = abs(Z[rows[k]] @ s)
            closed = ways[k] @ s[:nw]
            blocked[k] = (abs(closed) if several[k] else closed) > 1e-6
            wrong[k] = 0.0
            if blocked[k]:
                for j in range(spans[k, 0], spans[k, 1]):
                    wrong[k] = max(wrong[k], -(duals[j] @ s[:nw]))
                var = of_features
                for j in range(errors.shape[1]):
                    var += errors[k, j] * a[j] ** 2
                tol = max(exact, spread * np.sqrt(var))
                on[k] = near[k] < tol
                count_on += on[k] and wrong[k] < max(optimal, 10.0 / spread * (tol - exact))
        place[:] = -1
        for k in range(R - 1):
            if basis[k] >= 0:
                place[basis[k]] = k
        excess, rank = _beyond_rank(Z, rows, on, place, inverse, cov, spread)
        score = np.array([min(excess, 10.0), rank if excess >= enough else 0.0, float(count_on)])
        better = False
        for j in range(3):
            if score[j] != best_score[j]:
                better = score[j] > best_score[j]
                break
        if better:
            best, best_score = s.copy(), score
        if best_score[0] >= enough and (best_score[1] == R - 1 or excess < best_score[0]):
            break
        if blocked.any():
            middle = max(np.median(near[blocked]), 1e-9)
            for k in range(u):
                w[k] = 1e-6
                if blocked[k]:
                    w[k] = 1.0 / (near[k] / middle + blame * wrong[k] + eps)
        w = w * noise[turn]
        eps = max(eps / 2.0, 0.02)
    return best, int(best_score[0])


@kernel
def _beyond_rank(
    Z: Array,
    rows: Indices,
    on: Mask,
    place: Indices,
    inverse: Array,
    cov: Array,
    spread: float,
) -> tuple[int, int]:
    """Return how many more some rows of a vertex are than their rank, and the rank confirmed so.

    Rows of the vertex that are not in its basis are combinations of those that are; they confirm
    what they combine, unless that is a row that does not count. Coefficients that errors of
    covariance ``cov`` leave of zero are zero.
    """
    R = Z.shape[1]
    zero = np.full(R, ZERO_SHARE)
    if cov[R - 1, R - 1] > 0.0:
        for j in range(R):
            var = float(inverse[j] @ (cov @ inverse[j]))
            zero[j] = max(ZERO_SHARE, 2.0 * spread * np.sqrt(max(var, 0.0)))
    own = np.zeros(R, dtype=np.bool_)
    extra = 0
    for k in range(len(rows)):
        if on[k]:
            if place[rows[k]] >= 0:
                own[place[rows[k]]] = True
            else:
                extra += 1
    if extra == 0:
        return 0, 0
    K = np.zeros((extra, R))
    e = 0
    for k in range(len(rows)):
        if on[k] and place[rows[k]] < 0:
            K[e] = inverse @ Z[rows[k]]
            e += 1
    rank = 0
    for j in range(R - 1):
        if own[j]:
            used = False
            for e in range(extra):
                used = used or abs(K[e, j]) > zero[j]
            rank += used
    lost = 0
    for j in range(R - 1):
        if own[j] or lost == extra:
            continue
        top = lost
        for e in range(lost, extra):
            if abs(K[e, j]) > abs(K[top, j]):
                top = e
        if abs(K[top, j]) <= zero[j]:
            continue
        for m in range(j, R - 1):
            K[lost, m], K[top, m] = K[top, m], K[lost, m]
        for e in range(lost + 1, extra):
            factor = K[e, j] / K[lost, j]
            if factor != 0.0:
                for m in range(j, R - 1):
                    K[e, m] -= factor * K[lost, m]
        lost += 1
    return extra - lost, min(rank + lost, R - 1)
