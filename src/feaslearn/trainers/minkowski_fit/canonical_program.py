"""The training program of a Minkowski sum in units and an order of its samples' own.

Its optimum is often not unique, and an interior-point method ends between the optima, at a point
that depends on the last digits and on the order of what it was given. Samples in W and in GW, moved
or with columns exchanged are made the same to the last bit here before the solver sees them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from feaslearn.formulations import MinkowskiProgram, ProgramAnswer, ProgramRows
from feaslearn.hypotheses.term import Term
from feaslearn.losses import Loss, Suboptimality
from feaslearn.runs import Clock
from feaslearn.sets import Box, Hypersimplex, L1Ball, L2Ball, PrimitiveSet, Simplex
from feaslearn.sets.sizes import spread_or_size
from feaslearn.trainers.canonical_view import rounded
from feaslearn.trainers.sample_order import column_ranks

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class CanonicalProgram:
    """A `MinkowskiProgram` whose answer does not depend on units and order.

    Parameters
    ----------
    loss : Predictability or Suboptimality
        What is minimised.
    terms : sequence of Term
        The terms.
    rows : ProgramRows
        The samples, with functions and features of size one.
    shared : bool
        Whether all terms have one scale.
    nonnegative : bool
        Whether the coefficients of the scales must not be negative, or the scales at the rows.
    """

    def __init__(
        self,
        loss: Loss,
        terms: Sequence[Term],
        rows: ProgramRows,
        shared: bool,
        nonnegative: bool,
    ) -> None:
        psi, phi, costs, decisions, weights = rows
        self._functions, self._features, self._decisions = (
            np.argsort(column_ranks(table, weights)) for table in (psi, phi, decisions)
        )
        self._unit = _usual(decisions)
        self._power = self._unit ** (2 if loss.norm == "l2" and loss.squared else 1)
        if isinstance(loss, Suboptimality) and loss.normalize_cost:
            costs = rounded(loss.unit_costs(costs))
        placed = [_placed(term, self._decisions) for term in terms]
        n = decisions.shape[1]
        order = sorted(range(len(terms)), key=lambda t: placed[t].key(n))
        self._groups = np.array([0] if shared and order else order, dtype=np.intp)
        weight = 1.0 / len(weights)
        program = ProgramRows(
            rounded(psi[:, self._functions]),
            rounded(phi[:, self._features]),
            np.ascontiguousarray(costs[:, self._decisions]),
            rounded(decisions[:, self._decisions] / self._unit),
            rounded(weights / weight) * weight,
        )
        ordered = [placed[t] for t in order]
        self._program = MinkowskiProgram(loss, ordered, program, shared, nonnegative)

    def solve(
        self,
        ridge: Array | None = None,
        prices: Array | None = None,
        clock: Clock | None = None,
    ) -> ProgramAnswer:
        """Return the optimum for the samples as they came; see `MinkowskiProgram.solve`."""
        places = np.ix_(self._groups, self._functions)
        if ridge is not None:
            ridge = ridge[places] * (self._unit**2 / self._power)
        if prices is not None:
            prices = prices[places] * (self._unit / self._power)
        found = self._program.solve(ridge, prices, clock)
        a, b = np.empty_like(found.a), np.empty_like(found.b)
        a[places] = self._unit * found.a
        b[np.ix_(self._features, self._decisions)] = self._unit * found.b
        return ProgramAnswer(a, b, self._power * found.value)


def _placed(term: Term, decisions: Indices) -> Term:
    """Return a term for decisions in another order, entries of equal standing in their order."""
    E = term.embedding(len(decisions))[decisions]
    if _exchangeable(term.primitive):
        E = E[:, np.lexsort(E)]
    return Term(term.primitive, matrix=np.ascontiguousarray(E))


def _exchangeable(primitive: PrimitiveSet) -> bool:
    """Say whether a set stays the same when its entries are exchanged."""
    if isinstance(primitive, Box):
        return np.ndim(primitive.lower) == np.ndim(primitive.upper) == 0
    return isinstance(primitive, Simplex | Hypersimplex | L1Ball | L2Ball)


def _usual(decisions: Array) -> float:
    """Return the usual size of decisions: outliers must not make grains of the others."""
    usual = float(np.nanmedian(np.abs(decisions - np.nanmedian(decisions, axis=0))))
    return spread_or_size(decisions, usual, float(np.nanstd(decisions)))
