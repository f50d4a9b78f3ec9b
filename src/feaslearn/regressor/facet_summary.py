"""Learned limits and what the training data say about each, in the names of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.exceptions import SolverError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.inference.coverage import (
    FEWEST_ROWS,
    IDENTIFIED,
    SEEN,
    UNSEEN,
    WORDS,
    Evidence,
    RowCoverage,
    single_rows,
)
from feaslearn.messages import write_sum
from feaslearn.region.form import RegionForm, combined
from feaslearn.regressor.facet_table import FacetTable, LearnedFacet
from feaslearn.results import remark
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import SAME_TOL, VISIBLE_TOL, ZERO_PRICE
from feaslearn.trainers.facets.hyperplanes import identified

#: Terms are left out where they move a row by less than this share of its largest term.
NEGLIGIBLE = 2e-3
#: Two facets are the same if their normals differ by less than this.
SAME_NORMAL = 1e-2
#: Coefficients are written as integers up to this one, or as 1, if they are so near to them.
LARGEST_INTEGER, NEAR_INTEGER = 12, 1e-3
#: A dual of fewer standard errors leaves open whether a limit holds.
STANDARD_ERRORS = 2.0


def summarize(
    evidence: Evidence,
    names: Sequence[str],
    terms: Sequence[str],
    step: int,
    error: float,
) -> tuple[FacetTable | None, RowCoverage]:
    """Return the table of limits, None without rows, and what the data say of each limit."""
    k = len(terms)
    data = evidence.samples._replace(features=evidence.samples.features[:, :k])
    writer = _Writer(data, names, terms)
    table = None
    if evidence.form is None:
        limits = _ends(names, evidence.times)
    else:
        region = _Region(evidence.form, writer)
        limits = region.limits(evidence, data, error)
        found = _merged([limit for limit in limits if limit.facet is not None])
        found.sort(key=lambda group: -sum(each.worth for each in group))
        facets = []
        for number, group in enumerate(found, 1):
            for each in group:
                each.name = f"facet_{number}"
            first = group[0].facet
            if first is not None:
                binds, status = step * first.binds, WORDS[group[0].status]
                facets.append(replace(first, name=f"facet_{number}", binds=binds, status=status))
        table = FacetTable(facets, writer.equalities(region.rows), region.bound_texts(limits))
    return table, RowCoverage(
        tuple(limit.name for limit in limits),
        tuple(limit.text for limit in limits),
        np.array([limit.status for limit in limits]),
        np.array([limit.scale for limit in limits]),
        evidence.form is None,
        np.array([np.zeros(len(names) + k) if x.printed is None else x.printed for x in limits]),
        evidence.regimes(),
        float(STANDARD_ERRORS * error / np.sqrt(step * len(data.weights))),
    )


@dataclass
class _Limit:
    """One row of a region: its name, text, status and the scale of the text."""

    name: str
    text: str
    status: float
    scale: float = 1.0
    facet: LearnedFacet | None = None
    printed: Array | None = None

    @property
    def worth(self) -> float:
        """What one unit more would have saved in all samples."""
        return 0.0 if self.facet is None else self.facet.price * self.facet.binds


def _ends(names: Sequence[str], count: Array) -> list[_Limit]:
    """Return the upper and the lower ends of decisions in an image of latent points."""
    found = []
    for i, (sign, side) in enumerate((("<=", "upper"), (">=", "lower"))):
        for j, name in enumerate(names):
            seen = count[i * len(names) + j] >= FEWEST_ROWS
            text = f"the {side} limit of {name}"
            found.append(_Limit(f"{name}{sign}", text, SEEN if seen else UNSEEN))
    return found


class _Region:
    """The rows of a learned region, and its limits in the order of the form."""

    def __init__(self, form: RegionForm, writer: _Writer) -> None:
        self.form, self.writer = form, writer
        kinds = np.array([row.kind for row in form.labels])
        self.facets = np.flatnonzero(kinds == "facet")
        self.bounds = {i: at for i, at in single_rows(form).items() if kinds[i] == "bound"}
        X, r = form.X.toarray(), form.r[: form.n_features].T
        equal = kinds == "equality"
        lower, upper = (np.zeros((form.n, form.n_features)) for _ in range(2))
        for i, (j, side) in self.bounds.items():
            (upper if side == "upper" else lower)[j] = r[i] / X[i, j]
        self.rows = FacetRows(X[equal], r[equal], lower, upper, -X[self.facets], -r[self.facets])

    def limits(self, evidence: Evidence, data: Block, error: float) -> list[_Limit]:
        """Return all limits in the order of the form."""
        count, pushed = evidence.times, evidence.pushed
        confirmed, duals = evidence.confirmed, evidence.duals
        # A limit that most samples at which it should bind contradict is not where it seems.
        often = 2 * confirmed.sum(axis=0) >= pushed.sum(axis=0)
        complete = ~np.isnan(data.decisions).any(axis=1)
        features, costs, decisions, _ = (np.asarray(part)[complete] for part in data)
        sure = identified(self.rows, features, costs, decisions, error)
        known = self._known(evidence.samples.features)
        found = []
        for i, label in enumerate(self.form.labels):
            seen = SEEN if count[i] >= FEWEST_ROWS else UNSEEN
            if i in self.bounds:
                j, side = self.bounds[i]
                sign = "<=" if side == "upper" else ">="
                limit = self.rows.upper[j] if side == "upper" else self.rows.lower[j]
                name = self.writer.names[j]
                text = f"{name} {sign} {self.writer.right(limit, self.writer.spread[j])}"
                sure_of = i in known or (seen == SEEN and often[i])
                status = IDENTIFIED if sure_of else seen
                up = 1.0 if side == "upper" else -1.0
                printed = up * np.append(np.eye(self.form.n)[j], limit)
                found.append(_Limit(f"{name}{sign}", text, status, printed=printed))
            elif label.kind == "facet":
                at = int(np.flatnonzero(self.facets == i)[0])
                status = IDENTIFIED if seen == SEEN and sure[at] and often[i] else seen
                found.append(self._facet(at, status, pushed[:, i], duals[:, i]))
            else:
                name = label.name if label.kind == "known" and not self.form.equality[i] else ""
                found.append(_Limit(name, name, IDENTIFIED))
        return found

    def _known(self, features: Array) -> set[int]:
        """Return the bounds that known ones replace: these are as tight at all samples."""
        form = self.form
        weights = form.weights(features[:, : form.n_features], features[:, form.n_features :])
        given = {at: i for i, at in single_rows(form).items() if form.labels[i].kind == "known"}
        X, right = form.X.toarray(), combined(weights, form.r)
        found = set()
        for i, (j, side) in self.bounds.items():
            if (j, side) in given:
                other = given[j, side]
                margin = VISIBLE_TOL * self.writer.spread[j]
                # Rows are X x >= r, so that the larger right-hand side per unit is tighter.
                ours, theirs = (right[:, row] / abs(X[row, j]) for row in (i, other))
                if (theirs >= ours - margin).all():
                    found.add(i)
        return found

    def _facet(self, j: int, status: float, binding: Mask, duals: Array) -> _Limit:
        """Return a facet as it is printed, with the price of the printed form."""
        rows = self.rows
        a, f = rows.a[j], rows.f[j]
        printed, limit = _sparsest(a, f, rows, self.writer.constants)
        scale = self.writer.readable(printed)
        text = self.writer.inequality(scale * printed, scale * limit)
        across = np.linalg.lstsq(rows.E.T, a, rcond=None)[0] if len(rows.E) else np.zeros(0)
        normal, offset = a - across @ rows.E, f - across @ rows.e
        length = float(np.linalg.norm(normal))
        if length <= ZERO_PRICE:
            return _Limit("", text, status, scale)
        shown = scale * np.append(printed, limit)
        price = float(duals[binding].mean()) / scale if binding.any() else 0.0
        facet = LearnedFacet(
            text,
            normal / length,
            offset / length,
            int(binding.sum()),
            price,
            status == IDENTIFIED,
        )
        return _Limit("", text, status, scale, facet, shown)

    def bound_texts(self, limits: Sequence[_Limit]) -> list[str]:
        """Return ``l <= x <= u`` for each decision, with a word where a side was not seen."""
        texts, names = [], self.writer.names
        status = {at: limits[i].status for i, at in self.bounds.items()}
        for j, name in enumerate(names):
            low, high = self.rows.lower[j], self.rows.upper[j]
            size = self.writer.spread[j]
            if np.abs(high - low).max() <= VISIBLE_TOL * size:
                texts.append(f"{name} = {self.writer.right(low, size)} (it never moved)")
                continue
            text = f"{self.writer.right(low, size)} <= {name} <= {self.writer.right(high, size)}"
            unseen = [side for side in ("lower", "upper") if status.get((j, side)) == UNSEEN]
            texts.append(f"{text} ({' and '.join(unseen)} not seen)" if unseen else text)
        return texts


def _sparsest(a: Array, f: Array, rows: FacetRows, constants: Array) -> tuple[Array, Array]:
    """Add equalities and constant decisions so that the facet has the least sum of |a|."""
    still = ~np.isnan(constants)
    if len(rows.E):
        a, f = _without_multiples(a, f, rows, ~still)
    if still.any() and (np.abs(a[~still]) > ZERO_PRICE * np.abs(a).max()).any():
        f = f - np.append(a[still] @ constants[still], np.zeros(len(f) - 1))
        a = np.where(still, 0.0, a)
    return a, f


def _without_multiples(a: Array, f: Array, rows: FacetRows, counted: Mask) -> tuple[Array, Array]:
    """Add multiples of the equalities so that the coefficients counted have the least sum."""
    q, n = rows.E.shape
    G = np.hstack([rows.E.T, np.eye(n), -np.eye(n)])
    cost = np.concatenate([np.zeros(q), counted, counted]).astype(float)
    lower = np.repeat([-np.inf, 0.0], [q, 2 * n])
    program = CheckedProgram(cost, lower, np.full(len(cost), np.inf), E=G, e=a)
    try:
        multiples = program.solve("facet").point[:q]
    except SolverError as error:
        remark(f"a facet is shown as it was learned: {error}")
        return a, f
    return a - multiples @ rows.E, f - multiples @ rows.e


def _merged(limits: list[_Limit]) -> list[list[_Limit]]:
    """Return facets that are the same side by side, the surest of them first."""
    groups: list[list[_Limit]] = []
    for limit in sorted(limits, key=lambda each: (each.status, -each.worth)):
        for group in groups:
            if _same(limit.facet, group[0].facet, SAME_NORMAL):
                group.append(limit)
                break
        else:
            groups.append([limit])
    return groups


def _same(facet: LearnedFacet | None, other: LearnedFacet | None, tolerance: float) -> bool:
    """Whether two rows are the same facet."""
    if facet is None or other is None:
        return False
    size = max(1.0, float(np.abs(other.limit).max()))
    return bool(
        np.abs(facet.normal - other.normal).max() < tolerance
        and np.abs(facet.limit - other.limit).max() < tolerance * size
    )


class _Writer:
    """Writes rows in the user's names."""

    def __init__(self, data: Block, names: Sequence[str], terms: Sequence[str]) -> None:
        self.names = names
        self.terms = ("", *terms[1:])
        spread = np.nanstd(data.decisions, axis=0)
        least, most = np.nanmin(data.decisions, axis=0), np.nanmax(data.decisions, axis=0)
        #: Values of decisions that never moved, NaN for others.
        self.constants = np.where(least == most, least, np.nan)
        # Columns that never move count by the size of the others.
        usual = float(spread.max()) or float(np.nanmax(np.abs(data.decisions))) or 1.0
        self.spread = np.where(spread > SAME_TOL * usual, spread, usual)
        self.moves = np.append(1.0, np.std(data.features[:, 1:], axis=0))

    def readable(self, a: Array) -> float:
        """Return a factor that makes the coefficients small integers, or else the largest one."""
        effect = np.abs(a * self.spread)
        shown = np.abs(a[effect > NEGLIGIBLE * effect.max()])
        ratios = shown / shown.min()
        near = np.abs(ratios - np.round(ratios)) <= NEAR_INTEGER
        integers = bool(near.all() and ratios.max() <= LARGEST_INTEGER)
        return float(1.0 / (shown.min() if integers else shown.max()))

    def inequality(self, a: Array, f: Array) -> str:
        """Write ``a'x <= f'phi``, or ``>=`` where that needs fewer signs."""
        size = float(np.abs(a * self.spread).max())
        shown = np.where(np.abs(a * self.spread) > NEGLIGIBLE * size, a, 0.0)
        if (shown < 0.0).sum() > (shown > 0.0).sum():
            return f"{self._left(-a)} >= {self.right(-f, size)}"
        return f"{self._left(a)} <= {self.right(f, size)}"

    def equalities(self, rows: FacetRows) -> list[str]:
        """Write ``E x = e phi``, each row solved for one decision as far as possible."""
        q = len(rows.E)
        if not q:
            return []
        pivots = np.sort(qr(rows.E, mode="r", pivoting=True)[1][:q])
        E, e = (np.linalg.solve(rows.E[:, pivots], part) for part in (rows.E, rows.e))
        sizes = np.abs(E * self.spread).max(axis=1)
        return [
            f"{self._left(left)} = {self.right(right, size)}"
            for left, right, size in zip(E, e, sizes, strict=True)
        ]

    def _left(self, a: Array) -> str:
        """Write a left side, a term with a plus first."""
        effect = np.abs(a * self.spread)
        return _written(a, self.names, effect > NEGLIGIBLE * effect.max(), plus_first=True)

    def right(self, f: Array, size: float) -> str:
        """Write a right-hand side, without terms that hardly move it."""
        effect = np.abs(f * self.moves)
        shown = effect > NEGLIGIBLE * max(size, float(effect[1:].max(initial=0)))
        # The constant comes last: "demand - 2.4".
        return _written(np.roll(f, -1), (*self.terms[1:], self.terms[0]), np.roll(shown, -1))


def _written(
    coefficients: Array, names: Sequence[str], kept: Mask, plus_first: bool = False
) -> str:
    """Write the terms of a sum that are kept; those near one as one."""
    near = np.abs(np.abs(coefficients) - 1.0) <= NEAR_INTEGER
    near &= np.array([bool(name) for name in names])
    rounded = np.where(near, np.sign(coefficients), coefficients)
    terms = zip(rounded, names, kept, strict=True)
    return write_sum(
        ((float(each), name) for each, name, shown in terms if shown), plus_first=plus_first
    )
