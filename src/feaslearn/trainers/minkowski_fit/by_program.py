"""Minkowski sums trained by the conic program: ties, other norms, suboptimality."""

from __future__ import annotations

import numpy as np

from feaslearn.exceptions import UnsupportedError
from feaslearn.formulations import ProgramRows
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.losses import Objective
from feaslearn.runs import Clock, OutOfTime
from feaslearn.trainers.minkowski_fit.canonical_program import CanonicalProgram
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.penalized import Strengths

#: Latent points a program may have, and scales and errors.
MOST_LATENT, MOST_ROWS = 300_000, 2_000_000
#: Under a time limit: samples of the smallest program, how much larger the next one is, and how
#: much longer it takes.
SMALLEST, STEP, LONGER = 50, 4, 8.0
#: About how many latent points a program is written with in a second, before any solver begins.
WRITTEN = 20_000
#: The detail that says how many samples the program had, where these were not all.
PART = "samples of the program"


def too_large(model: Minkowski, objective: Objective, n_rows: int) -> bool:
    """Say whether a program with the faces of so many samples would be too large."""
    n = objective.n_decisions
    scales = objective.n_samples * (n + len(model.terms_of(n)))
    return _latent(model, n, n_rows) > MOST_LATENT or scales > MOST_ROWS


def _latent(model: Minkowski, n: int, n_rows: float) -> float:
    """Return how many latent points a program with the faces of so many samples has."""
    return n_rows * sum(term.primitive.dimension for term in model.terms_of(n))


def fit_by_program(
    fit: MinkowskiFit, objective: Objective, strengths: Strengths, n_tied: int
) -> Fitted:
    """Return the optimum of the training program.

    With a time limit, the programs of larger and larger parts of the samples are solved while there
    seems to be time for the next; `OutOfTime` is raised where there is none even for the first.
    """
    samples = fit.samples
    model, n_rows = samples.hypothesis, objective.n_samples
    if too_large(model, objective, n_tied or n_rows):
        raise UnsupportedError(
            f"{objective.loss!r} on {n_rows} samples is a program with more than {MOST_LATENT} "
            f"latent points or {MOST_ROWS} scales and errors; train on fewer samples, or with "
            "Predictability()"
        )
    rows, clock = samples.program_rows(), objective.run.clock
    found: Fitted | None = None
    took = 0.0
    for count in _sizes(n_rows, clock):
        before = clock.left
        faces = (n_tied or n_rows) * count / n_rows
        written = _latent(model, objective.n_decisions, faces) / WRITTEN
        if before < LONGER * took or before < written:
            break
        try:
            found = _solved(fit, objective, strengths, _part(rows, count))
        except OutOfTime:
            if found is None:
                raise
            break
        took = before - clock.left
    if found is None:
        raise OutOfTime
    return found


def _sizes(count: int, clock: Clock) -> list[int]:
    """Return how many samples programs have: all, and with a time limit parts of them first."""
    sizes = [count]
    while clock.limited and sizes[0] > SMALLEST * STEP:
        sizes.insert(0, sizes[0] // STEP)
    return sizes


def _part(rows: ProgramRows, count: int) -> ProgramRows:
    """Return so many samples, drawn at random."""
    total = len(rows.weights)
    if count == total:
        return rows
    drawn = np.sort(np.random.default_rng(0).choice(total, count, replace=False))
    part = ProgramRows(*(np.ascontiguousarray(array[drawn]) for array in rows))
    return part._replace(weights=part.weights * (rows.weights.sum() / part.weights.sum()))


def _solved(
    fit: MinkowskiFit, objective: Objective, strengths: Strengths, rows: ProgramRows
) -> Fitted:
    """Return the optimum of the program of some samples, or all: only then is there a bound."""
    samples, clock = fit.samples, objective.run.clock
    model = samples.hypothesis
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
    whole = len(rows.weights) == objective.n_samples
    if not whole:
        details[PART] = float(len(rows.weights))
    return Fitted(
        theta,
        answer.value,
        bound if whole else None,
        strengths,
        1,
        details | fit.used(answer.a),
    )
