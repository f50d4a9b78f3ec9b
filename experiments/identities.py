"""The paper's identities between losses, each measured on random regions or on its data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from feaslearn import paper

Array = NDArray[np.float64]

FULL = "Full characterization: zero exactly for optimal decisions"
PROGRAMS = "Exact reformulation: conic programs against closed forms"
GRADIENT = "Gradient from multipliers, L2 ball"
SMOOTHED = "Suboptimality as smoothed predictability, ε = N/2"
SPO = "True suboptimality is the SPO loss"
LOSSES = (paper.Predictability(), paper.Suboptimality())
BOUND = "J less J_ε + ε/2, multipliers of at most 10³"


def rows(settings: Settings) -> list[Row]:
    """Return the identities."""
    del settings  # all of them are cheap
    return [Row(name, {"identity": name}) for name in MEASURES]


def random_region(
    seed: int, n: int = 3, p: int = 6, rows: int = 30
) -> tuple[Any, Array, paper.Samples]:
    """Return a class of regions, parameters, and samples with optimal decisions."""
    random = np.random.default_rng(seed)
    region, theta = paper.Affine(fl.Simplex(p)), random.standard_normal(n * p)
    features, costs = np.ones((rows, 1)), random.standard_normal((rows, n))
    decisions = region.decisions(theta, features, costs)
    return region, theta, paper.Samples(features, costs, decisions, np.full(rows, 1 / rows))


def rows_of(region: Any, loss: Any, samples: paper.Samples, theta: Array) -> Array:
    """Return the loss of every sample."""
    return paper.Problem(region, loss, samples).rows(theta).values


def full_characterization(seed: int) -> dict[str, float]:
    """Return the largest loss of an optimal decision, and the least of another vertex or point."""
    region, theta, samples = random_region(seed)
    random = np.random.default_rng(seed + 1)
    moved = samples._replace(decisions=samples.decisions + 0.1 * random.standard_normal((30, 3)))
    dearer = samples._replace(decisions=region.decisions(theta, samples.features, -samples.costs))
    at = max(float(rows_of(region, loss, samples, theta).max()) for loss in LOSSES)
    other = min(
        float(rows_of(region, loss, wrong, theta).min())
        for loss in LOSSES
        for wrong in (moved, dearer)
    )
    return {"deviation": at, "elsewhere": other}


def exact_reformulation(seed: int) -> dict[str, float]:
    """Return the largest difference between the paper's programs and the closed forms."""
    region, theta, samples = random_region(seed, rows=10)
    random = np.random.default_rng(seed + 1)
    samples = samples._replace(decisions=samples.decisions + random.standard_normal((10, 3)))
    problems = [paper.Problem(region, loss, samples) for loss in LOSSES]
    apart = [
        paper.losses_by_program(problem, theta) - problem.rows(theta).values for problem in problems
    ]
    return {"deviation": float(np.abs(apart).max())}


def gradient_from_multipliers(seed: int) -> dict[str, float]:
    """Return the relative error of ``c μ' - β z'``, the paper's formula for the gradient."""
    import cvxpy as cp

    random = np.random.default_rng(seed)
    errors = []
    for _ in range(5):
        A, c, x = (
            random.standard_normal((2, 2)),
            random.standard_normal(2),
            2 * random.standard_normal(2),
        )
        move, z, tail, head = cp.Variable(2), cp.Variable(2), cp.Variable(2), cp.Variable()
        primal, dual = x + move == A @ z, A.T @ c - tail == 0
        rules = [primal, dual, cp.norm(z) <= 1, cp.norm(tail) <= head, c @ (x + move) <= -head]
        cp.Problem(cp.Minimize(cp.sum_squares(move)), rules).solve(solver="CLARABEL")
        printed = np.outer(c, dual.dual_value) - np.outer(primal.dual_value, z.value)
        samples = paper.Samples(np.ones((1, 1)), c[None], x[None], np.ones(1))
        problem = paper.Problem(paper.Affine(fl.L2Ball(2)), paper.Predictability(), samples)
        exact = problem.value_and_gradient(np.append(A.ravel(), np.zeros(2)))[1][:4].reshape(2, 2)
        errors.append(np.linalg.norm(printed - exact) / np.linalg.norm(exact))
    return {"deviation": float(np.median(errors))}


def smoothed_predictability(seed: int) -> dict[str, float]:
    """Compare the smoothed predictability with ε = N/2 and the feasibility part of suboptimality.

    The smoothed equality is ``max_β β'(r + γ) - ε/2 |β + γ/ε|²``, r = x - Az - b; with it the
    squared objective is ``1/N Σ |r|² + (1/N - 1/2ε) Σ |γ|²``. What is left over is the
    optimality part.
    """
    import cvxpy as cp

    region, theta, samples = random_region(seed, rows=10)
    random = np.random.default_rng(seed + 1)
    decisions = samples.decisions + random.standard_normal((10, 3))
    count, A = len(decisions), theta.reshape(3, 6)
    epsilon = count / 2
    value = 0.0
    for x in decisions:
        z, move = cp.Variable(6, nonneg=True), random.standard_normal(3)
        cp.Problem(cp.Minimize(cp.sum_squares(x - A @ z)), [cp.sum(z) == 1]).solve(
            solver="CLARABEL"
        )
        rest = x - A @ z.value
        best = rest / epsilon  # where the maximum over β is
        smooth = best @ (rest + move) - epsilon / 2 * np.sum((best + move / epsilon) ** 2)
        value += np.sum(move**2) / count + smooth
    known = paper.KnownRegion(region, theta, lambda s: np.ones((len(s), 1)))
    infeasible = known.distance_to_feasible(decisions, np.zeros((count, 1))) ** 2
    moved = samples._replace(decisions=decisions)
    whole = rows_of(region, paper.Suboptimality(normalize_cost=False), moved, theta).mean()
    return {
        "deviation": float(abs(value - infeasible.mean())),
        "elsewhere": float(whole - infeasible.mean()),
    }


def spo(seed: int) -> dict[str, float]:
    """Compare ``|(γ_f, γ_o)|`` and the regret ``c'x̂ - min c'x`` for feasible and other "
    "predictions."""
    data = paper.datasets.make_power5(60, random_state=seed)
    truth, random = data.truth, np.random.default_rng(seed)
    wrong_costs = data.costs * random.uniform(0.5, 1.5, data.costs.shape)
    inside = truth.solve(data.signals, wrong_costs)
    policy = paper.baselines.linear_policy(data)
    least = (truth.solve(data.signals, data.costs) * data.costs).sum(axis=1)
    apart = []
    for guess in (inside, policy.predict(data)):
        regret = (guess * data.costs).sum(axis=1) - least
        outside = truth.distance_to_feasible(guess, data.signals)
        apart.append(np.abs(np.hypot(outside, np.maximum(regret, 0.0)) - regret))
    return {"deviation": float(apart[0].max()), "elsewhere": float(apart[1].mean())}


def bound_of_smoothing(seed: int) -> dict[str, float]:
    """Return by how much ``J`` exceeds ``J_ε + ε/2`` where multipliers have at most a length.

    The equality asks for ``max_β β'(r + γ)``, which is ``B |r + γ|`` over ``|β| ≤ B``; smoothed,
    ``(|r|² - |γ|²) / 2ε`` over all β.
    """
    random = np.random.default_rng(seed)
    rest, move, epsilon = random.standard_normal(3), random.standard_normal(3), 1.0
    smooth = float(rest @ rest - move @ move) / (2.0 * epsilon)
    short, long = (
        limit * float(np.linalg.norm(rest + move)) - smooth - epsilon / 2.0 for limit in (1e3, 1e4)
    )
    return {"deviation": short, "elsewhere": long}


MEASURES = {
    FULL: full_characterization,
    PROGRAMS: exact_reformulation,
    GRADIENT: gradient_from_multipliers,
    SMOOTHED: smoothed_predictability,
    SPO: spo,
    BOUND: bound_of_smoothing,
}


def measure(seed: int, *, identity: str) -> dict[str, Any]:
    """Return how far an identity is from holding."""
    return MEASURES[identity](seed)


def _holds(row: str, tolerance: float, tail: str) -> Any:
    def decide(found: Found) -> tuple[bool | None, str]:
        worst = float(found.values(row, "deviation").max())
        try:
            elsewhere = f"{found.mean(row, 'elsewhere'):.2g}"
        except KeyError:
            elsewhere = ""
        return worst < tolerance, f"largest deviation {worst:.1e}{tail.format(elsewhere)}"

    return decide


def _zero_iff_optimal(found: Found) -> tuple[bool | None, str]:
    at, other = found.values(FULL, "deviation"), found.values(FULL, "elsewhere")
    return bool(at.max() < 1e-9 < other.min()), (
        f"random regions: {len(at)}, with 30 costs each; optimal decisions lose at most "
        f"{at.max():.1e}, others at least {other.min():.1e}"
    )


def _bound_of_smoothing(found: Found) -> tuple[bool | None, str]:
    least, longer = (float(found.values(BOUND, key).min()) for key in ("deviation", "elsewhere"))
    return least <= 0.0, (
        "the bound needs bounded multipliers, and β ranges over all of Rⁿ: where the equality "
        f"fails and β has a length of at most 10³, J exceeds J_ε + ε/2 by at least {least:.2g}, of "
        f"at most 10⁴ by {longer:.2g} (ε = 1)"
    )


EXPERIMENT = Experiment(
    name="identities",
    title="Identities between losses",
    about=(
        "*Deviation* is how far the identity is from holding where it should; *elsewhere* "
        "is, in order: the least loss of a "
        "decision that is not optimal; –; –; the optimality part that smoothing leaves out; "
        "the difference to SPO for "
        "predictions that are not feasible (linear policy, power5); multipliers of at most 10⁴."
    ),
    rows=rows,
    measure=measure,
    columns={"deviation": "deviation", "elsewhere": "elsewhere"},
    helpers=(random_region, rows_of, *MEASURES.values()),
    claims=(
        Claim(
            "Proposition (full characterization): a loss is zero iff the decision is optimal",
            _zero_iff_optimal,
        ),
        Claim(
            "Theorem (exact reformulation)",
            _holds(PROGRAMS, 1e-5, " between program and closed form"),
        ),
        Claim(
            "Gradient of ℓp by multipliers, s_k (c μ' − β z'), unsmoothed",
            _holds(
                GRADIENT,
                1e-3,
                " (median relative error of five, worst seed; L2 ball, where multipliers are "
                "not unique)",
            ),
        ),
        Claim(
            "Remark: the feasibility part of suboptimality is predictability smoothed with ε = N/2",
            _holds(
                SMOOTHED,
                1e-6,
                ", squared losses; the optimality part ({} on average) is not in it, so only "
                "that part",
            ),
        ),
        Claim("Definition of smoothing, applied to (J): J_ε ≤ J ≤ J_ε + ε/2", _bound_of_smoothing),
        Claim(
            "True suboptimality coincides with the SPO loss (of feasible predictions)",
            _holds(
                SPO, 1e-6, " where predictions are feasible; elsewhere they differ by {} on average"
            ),
        ),
    ),
)
