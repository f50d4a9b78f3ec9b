"""Fits of Minkowski sums by their conic program: ties, other norms, suboptimality."""

from __future__ import annotations

import numpy as np

from feaslearn.exceptions import UnsupportedError
from feaslearn.formulations import MinkowskiProgram
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term import shape_of
from feaslearn.losses import Objective
from feaslearn.messages import list_first
from feaslearn.runs import OutOfTime
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import SAME_TOL
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.penalized import Penalties
from feaslearn.trainers.returned_decisions import returned_loss

#: An optimum with ties whose returned decisions lose this many times what they lose when each tied
#: sample counts with its first minimiser is not kept.
DEGENERATE = 2.0

#: Latent points a program may have, and scales and errors.
MOST_LATENT, MOST_ROWS = 300_000, 2_000_000


def with_ties(fit: MinkowskiFit, objective: Objective, fitted: Fitted, robust: bool) -> Fitted:
    """Let tied samples take any of their minimisers, where a program can do that."""
    tied = fit.n_tied
    if robust or too_large(fit.passes.hypothesis, objective, tied):
        why = "which robust fits cannot use" if robust else "too many for a program"
        warning = (
            f"{tied} samples tie and have many minimisers, {why}: each counts with its "
            "minimiser of lowest index, and the optimum is not proved"
        )
        return fitted._replace(bound=None, warnings=(warning,))
    exact = _by_program(fit, objective, fitted.penalties, tied, fitted)
    # A region in which everything ties explains any decision and predicts none.
    if exact.late or returned_loss(objective, exact.theta) <= DEGENERATE * returned_loss(
        objective, fitted.theta
    ):
        return exact
    warning = (
        "the optimum of the loss ties nearly everywhere, which explains any "
        "decision and predicts none: the best for first minimisers was kept"
    )
    details = fitted.details | exact.details
    return fitted._replace(bound=exact.bound, details=details, warnings=(warning,), degenerate=True)


def by_other_loss(fit: MinkowskiFit, objective: Objective, penalties: Penalties) -> Fitted:
    """Fit by a loss that is no matter of moments."""
    return _by_program(fit, objective, penalties, 0, fit.solve(0.0, 0.0))


def _by_program(
    fit: MinkowskiFit, objective: Objective, penalties: Penalties, tied: int, first: Fitted
) -> Fitted:
    """Return the optimum of the program, or the first fit if the deadline comes before it."""
    try:
        return fit_by_program(fit, objective, penalties, tied)
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        objective.run.clock.interrupt()
    late = "the deadline came before the optimum of the program: a least-squares fit was kept"
    return first._replace(bound=None, warnings=(late,), late=True)


def too_large(model: Minkowski, objective: Objective, n_rows: int) -> bool:
    """Say whether a program with the faces of so many samples would be too large."""
    n = objective.n_decisions
    latent = n_rows * sum(term.primitive.dimension for term in model.terms_of(n))
    scales = objective.n_samples * (n + len(model.terms_of(n)))
    return latent > MOST_LATENT or scales > MOST_ROWS


def fit_by_program(
    fit: MinkowskiFit, objective: Objective, penalties: Penalties, n_tied: int
) -> Fitted:
    """Return the optimum of the training program; `OutOfTime` is raised at the deadline."""
    passes = fit.passes
    model, n_rows = passes.hypothesis, objective.n_samples
    if too_large(model, objective, n_tied or n_rows):
        raise UnsupportedError(
            f"{objective.loss!r} on {n_rows} samples is a program with more than {MOST_LATENT} "
            f"latent points or {MOST_ROWS} scales and errors; train on fewer samples, or with "
            "Predictability()"
        )
    program = MinkowskiProgram(
        objective.loss,
        model.terms_of(objective.n_decisions),
        passes.program_rows(),
        shared=model.scale == "shared",
        nonnegative=passes.basis.nonnegative,
    )
    clock = objective.run.clock
    answer = program.solve(clock=clock)
    bound = answer.value
    if max(penalties) > 0.0:
        answer = program.solve(*fit.problem.factors(fit.moments, penalties), clock)
    details = {"objective of the program": answer.value, **penalties._asdict()}
    theta = passes.of.theta(answer.a, answer.b)
    return Fitted(theta, answer.value, bound, penalties, 1, details | fit.used(answer.a))


def term_warnings(model: Minkowski, objective: Objective, observed: float) -> list[str]:
    """Warn of terms that come twice or are single points, and of too few samples."""
    n, warnings = objective.n_decisions, list[str]()
    terms = model.terms_of(n)
    keys = [term.key(n) for term in terms]
    first = {key: t for t, key in reversed([*enumerate(keys)])}
    twice = [f"term {t} is term {first[key]}" for t, key in enumerate(keys) if first[key] < t]
    if twice:
        warnings.append(
            f"{len(twice)} terms stand in the list before ({list_first(twice[:5], len(twice))}): "
            "only the sum of such scales is determined"
        )
    shapes = {shape_of(term.primitive): term.primitive for term in terms}
    flat = {shape for shape, primitive in shapes.items() if _is_point(primitive)}
    points = [
        f"term {t}, {term.primitive!r}"
        for t, term in enumerate(terms)
        if flat and shape_of(term.primitive) in flat
    ]
    if points:
        what = "only moves b(s)" if model.offset else "is the same decision at every cost"
        warnings.append(f"a single point, which {what}: {list_first(points[:5], len(points))}")
    size = model.layout(n, objective.n_features).size
    if objective.hypothesis is model and size > observed:
        warnings.append(
            f"{size} parameters were fitted to {observed:.0f} observed values, which cannot "
            "determine them: the ridge chooses among those that fit"
        )
    return warnings


def _is_point(primitive: PrimitiveSet) -> bool:
    """Say whether a set has no width in any direction."""
    axes = np.eye(primitive.dimension)
    low, high = primitive.minimum(axes), -primitive.minimum(-axes)
    return bool(np.all(high - low <= SAME_TOL * max(1.0, np.abs([low, high]).max())))
