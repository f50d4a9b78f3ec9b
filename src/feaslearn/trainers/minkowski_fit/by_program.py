"""Minkowski sums trained by the conic program: ties, other norms, suboptimality."""

from __future__ import annotations

from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.losses import Objective
from feaslearn.trainers.minkowski_fit.canonical_program import CanonicalProgram
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.penalized import Strengths

#: Latent points a program may have, and scales and errors.
MOST_LATENT, MOST_ROWS = 300_000, 2_000_000


def too_large(model: Minkowski, objective: Objective, n_rows: int) -> bool:
    """Say whether a program with the faces of so many samples would be too large."""
    n = objective.n_decisions
    latent = n_rows * sum(term.primitive.dimension for term in model.terms_of(n))
    scales = objective.n_samples * (n + len(model.terms_of(n)))
    return latent > MOST_LATENT or scales > MOST_ROWS


def fit_by_program(
    fit: MinkowskiFit, objective: Objective, strengths: Strengths, n_tied: int
) -> Fitted:
    """Return the optimum of the training program; `OutOfTime` is raised at the deadline."""
    samples = fit.samples
    model, n_rows = samples.hypothesis, objective.n_samples
    if too_large(model, objective, n_tied or n_rows):
        raise UnsupportedError(
            f"{objective.loss!r} on {n_rows} samples is a program with more than {MOST_LATENT} "
            f"latent points or {MOST_ROWS} scales and errors; train on fewer samples, or with "
            "Predictability()"
        )
    rows, clock = samples.program_rows(), objective.run.clock
    program = CanonicalProgram(
        objective.loss,
        model.terms_of(objective.n_decisions),
        rows,
        shared=model.scale == "shared",
        nonnegative=samples.basis.nonnegative,
    )
    answer = program.solve(clock=clock)
    bound = answer.value
    if max(strengths) > 0.0:
        answer = program.solve(*fit.problem.penalties(fit.moments, strengths), clock)
    details = {"objective of the program": answer.value, **strengths._asdict()}
    theta = samples.theta(answer.a, answer.b)
    return Fitted(theta, answer.value, bound, strengths, 1, details | fit.used(answer.a))
