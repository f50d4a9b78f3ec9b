"""The noise of decisions: its size by row and column, equalities and bounds under it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.tolerances import DEPENDENT_TOL, FINEST, LSTSQ_TOL, SAME_TOL, SUM_ROUNDING, TINY
from feaslearn.trainers.facets.rows import Rows, equal_coefficients

#: Standard errors beyond which a statistic is no accident, and deviations a row is not on a facet.
UNLIKELY, NEAR = 5.0, 3.0
#: Equalities are flatter than the widest direction by this factor; with much noise, by the second.
FLAT, LESS_FLAT = 0.3, 0.6
#: Mean distance of normal errors below their middle, in standard deviations.
BELOW = float(np.sqrt(2.0 / np.pi))
#: Times that equalities and the weights of rows by their noise are found in turn.
REWEIGHTED = 4


class Noise(NamedTuple):
    """Standard deviations ``sigma`` (N, n) of the errors of decisions, in standard units.

    ``F_cov`` (r, r) is the covariance of the errors that features were rounded with; ``told`` says
    whether the data show how large errors are.
    """

    sigma: Array
    F_cov: Array
    told: bool

    def of_slack(self, a: Array, f: Array) -> Array:
        """Return the deviation (N,) of ``f'F - a'x`` from what it would be without errors."""
        return np.asarray(np.sqrt(self.sigma**2 @ a**2 + f @ self.F_cov @ f))

    @property
    def typical(self) -> float:
        """One number for all: the root of the mean square."""
        return float(np.sqrt((self.sigma**2).mean()))

    @property
    def residual(self) -> Array:
        """Deviations that misfits are measured in: no entry counts far more than its column."""
        column = np.sqrt((self.sigma**2).mean(axis=0))
        return np.asarray(np.maximum(self.sigma, column / 4.0))


def noise_profiles(rows: Rows) -> list[Array]:
    """Return ways (N, n) in which noise may differ between entries, each of mean square one.

    It may be a share of the spread of each column, the same in the unit of the data, or a share of
    the value itself. Only the last leaves zeros what they are.
    """
    if rows.rounded:
        return [np.tile(rows.x_error, (len(rows.x), 1))]
    value = np.maximum(np.abs(rows.x - rows.zero), FINEST)
    found = [value]
    if not rows.shares_zero:
        found = [np.ones_like(rows.x), np.ones_like(rows.x) / rows.scale, value]
    return [profile / np.sqrt((profile**2).mean()) for profile in found]


def hidden_equalities(
    rows: Rows, w: Array, fixed: Array, profile: Array, flat: float = FLAT
) -> tuple[float, Array, Array]:
    """Return the noise in units of its profile and the equalities under it, beside those fixed.

    ``flat`` is how much flatter than the widest direction they are.
    """
    (N, n), F = rows.x.shape, rows.F
    unit = 1.0 / np.sqrt((profile**2).mean(axis=0))
    U, s, _ = np.linalg.svd((fixed / unit).T, full_matrices=True)
    basis = U[:, int((s > DEPENDENT_TOL * s.max(initial=0.0)).sum()) :]
    d, none = basis.shape[1], (np.zeros((0, n)), np.zeros((0, F.shape[1])))
    if n + F.shape[1] + 3 > N or not d:
        return _scatter(rows.x, profile), *none
    z, spread = (rows.x * unit) @ basis, np.ones(N)
    for _ in range(REWEIGHTED if np.ptp(profile, axis=0).any() else 1):
        weight = w / spread**2
        weight *= w.sum() / weight.sum()
        count, root = float(w.sum()), np.sqrt(weight)[:, None]
        B = np.linalg.lstsq(F * root, z * root, rcond=LSTSQ_TOL)[0]
        residual = z - F @ B
        cov = (residual * weight[:, None]).T @ residual / (count - F.shape[1])
        values, V = np.linalg.eigh(cov)
        first = (basis @ V[:, 0]) * unit
        spread = np.sqrt(profile**2 @ first**2)
        spread /= np.sqrt((spread**2).mean())
    # Of an exact equality, rounding leaves an eigenvalue of either sign.
    level, q = np.sqrt(values.clip(max(SUM_ROUNDING * float(values[-1]), TINY))), 0
    parts = residual @ V / level * np.sqrt(weight / w)[:, None]
    while q < d and level[q] < flat * level[-1] and _normal(parts[:, q], w):
        # The least and the greatest of q levels of the same noise, by chance.
        if level[q] > level[0] * (1.0 + 2.0 * np.sqrt(q / count) + UNLIKELY / np.sqrt(2.0 * count)):
            break
        q += 1
    if not q:
        return _scatter(rows.x, profile), *none
    V = V[:, :q]
    if not len(fixed):
        V = equal_coefficients(cov, V, rows.scale / unit, count, NEAR)
    if not len(fixed) and q == 1:
        # A limit that nearly always binds is as flat: of mixtures, the plain sum is likeliest.
        total = (rows.scale / unit)[:, None] / np.linalg.norm(rows.scale / unit)
        chance = (n - 1 + NEAR * np.sqrt(2.0 * n - 2.0)) / count + NEAR * np.sqrt(2.0 / count)
        if float((total.T @ cov @ total)[0, 0]) < (1.0 + chance) * float((V.T @ cov @ V)[0, 0]):
            V = total
    E, e = (basis @ V).T * unit, (B @ V).T
    size = np.linalg.norm(E, axis=1, keepdims=True)
    E, e = E / size, e / size
    misses = (rows.x @ E.T - F @ e.T) ** 2 / (profile**2 @ (E**2).T)
    share = count / (count - F.shape[1])
    return float(np.sqrt(share * (w @ misses).mean() / count)), E, e


def answers_to_prices(rows: Rows, w: Array) -> bool:
    r"""Say whether decisions are cheaper than the linear policy would be by chance.

    With both regressed on the features, the mean of :math:`-\tilde c_i'\tilde x_i` is positive for
    optimal decisions and zero for decisions that ignore prices: facets of those would only shrink
    the region to its middle. Costs that do not vary cannot tell.
    """
    root, w = np.sqrt(w)[:, None], w / w.sum()
    tables = np.hstack([rows.c, rows.x])
    policy = np.linalg.lstsq(rows.F * root, tables * root, rcond=LSTSQ_TOL)[0]
    costs, decisions = np.hsplit(tables - rows.F @ policy, 2)
    if np.abs(costs).max(initial=0.0) <= SAME_TOL:
        return True
    savings = -np.einsum("ij,ij->i", costs, decisions)
    mean = float(w @ savings)
    return bool(mean > UNLIKELY * np.sqrt(float(w**2 @ (savings - mean) ** 2)))


def _normal(v: Array, w: Array) -> bool:
    """Say whether values of variance one have no longer and no more lopsided tails than noise."""
    count = float(w.sum())
    third, fourth = float(w @ v**3) / count, float(w @ v**4) / count
    room = UNLIKELY * np.sqrt(6.0 / count)
    return bool(abs(third) < room and fourth < 3.0 + 2.0 * room)


def _scatter(x: Array, profile: Array) -> float:
    """Return the noise of values beyond the bound where many gather, in units of its profile.

    It is 0 if they gather nowhere.
    """
    found = []
    for v, unit in zip(np.vstack([x.T, -x.T]), np.vstack([profile.T, profile.T]), strict=True):
        some = np.sort(v)
        while len(some) > 3:
            half = (len(some) + 1) // 2
            k = int((some[half - 1 :] - some[: len(some) - half + 1]).argmin())
            some = some[k : k + half]
        below = float(some.mean()) - v[v < some.mean()]
        size = float(np.sqrt((below**2).mean())) if len(below) else 0.0
        if len(below) >= 10 and 0.0 < size < FLAT:
            room = 2.0 * UNLIKELY * np.sqrt(6.0 / len(below))
            if ((below / size) ** 4).mean() < 3.0 + room:
                found.append(size / float(np.median(unit[v < some.mean()])))
    return float(np.median(found)) if found else 0.0


def noisy_bounds(x: Array, w: Array, sigma: Array) -> tuple[Array, Array, Mask]:
    """Return lower and upper bounds, and which of each have rows gathered there."""
    ends = np.zeros((2, x.shape[1]))
    seen = np.zeros((2, x.shape[1]), bool)
    for j, column in enumerate(x.T):
        for k, sign in enumerate((1.0, -1.0)):
            end, seen[k, j] = _end(sign * column, w, sigma[:, j])
            ends[k, j] = sign * end
    crossing = ends[0] >= ends[1]
    ends = np.where(crossing, np.vstack([x.min(axis=0), x.max(axis=0)]), ends)
    return ends[0], ends[1], seen & ~crossing


def _end(v: Array, w: Array, sigma: Array) -> tuple[float, bool]:
    """Return the lower end of values with noise, and whether many gather there.

    It lies where the values below it are as far from it as noise is from its middle, and no
    denser above than a region that begins there would leave them.
    """
    order = np.argsort(v, kind="stable")
    v, w, sigma = v[order], w[order], np.maximum(sigma[order], FINEST)
    count = np.cumsum(w)
    middle = np.cumsum(w * (v + BELOW * sigma)) / count
    behind = np.append(v[1:], np.inf)
    above = np.append(0.0, count)[np.searchsorted(v, middle + 2.0 * sigma)] - count
    k = int(np.flatnonzero((behind >= middle) & (above <= 6.0 * count))[0])
    end, near = float(middle[k]), float(sigma[k])
    edges = np.searchsorted(v, [end - 2.0 * near, end + 2.0 * near, end + 6.0 * near])
    there, beyond = np.diff(np.append(0.0, count)[edges])
    return end, bool(there > beyond / 2.0 + NEAR * np.sqrt(beyond / 2.0 + 1.0))
