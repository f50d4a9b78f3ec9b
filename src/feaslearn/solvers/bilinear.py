"""SCIP and Gurobi for bilinear programs, by expressions of the solver itself."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import MissingExtraError, SolverError, UnsupportedError

SOLVERS = ("auto", "scip", "gurobi")


class Ended(NamedTuple):
    """Values of the variables asked for (None without a solution), a bound, and whether it ended.

    ``finished`` is False where a limit ended the search.
    """

    values: Array | None
    bound: float
    finished: bool


def make_solver(name: str) -> BilinearSolver:
    """Return a solver by name; "auto" is SCIP where it is installed, otherwise Gurobi."""
    if name not in SOLVERS:
        known = ", ".join(map(repr, SOLVERS))
        raise UnsupportedError(f"solver={name!r} is not known; use one of {known}")
    if name != "auto":
        return Scip() if name == "scip" else Gurobi()
    for solver in (Scip, Gurobi):
        with contextlib.suppress(MissingExtraError):
            return solver()
    raise MissingExtraError("pyscipopt", "scip")


class Scip:
    """SCIP, through PySCIPOpt."""

    def __init__(self) -> None:
        try:
            from pyscipopt import Model
        except ImportError:
            raise MissingExtraError("pyscipopt", "scip") from None
        self._model: Any = Model()
        self._model.hideOutput()

    def variable(self, lower: float, upper: float) -> Any:
        """Add a variable; infinite bounds are none."""
        low, high = (None if np.isinf(bound) else float(bound) for bound in (lower, upper))
        return self._model.addVar(lb=low, ub=high)

    def add(self, constraint: Any) -> None:
        """Add a constraint."""
        self._model.addCons(constraint)

    def minimize(
        self, cost: Any, wanted: list[Any], cutoff: float, seconds: float, gap: float
    ) -> Ended:
        """Minimise below the cutoff."""
        model = self._model
        model.setObjective(cost, "minimize")
        model.setObjlimit(cutoff)
        model.setParam("limits/gap", gap)
        model.setParam("randomization/randomseedshift", 0)
        if np.isfinite(seconds):
            model.setParam("limits/time", max(float(seconds), 1e-3))
        model.optimize()
        status = model.getStatus()
        if status in ("unbounded", "inforunbd"):
            raise SolverError(f"SCIP ended with status {status!r} on the bilinear program")
        if status == "userinterrupt":
            raise KeyboardInterrupt
        finished = status in ("optimal", "gaplimit", "infeasible")
        values = None
        if model.getNSols() > 0:
            values = np.array([model.getVal(variable) for variable in wanted])
        # Nothing below the cutoff: the cutoff itself is a bound.
        bound = cutoff if status == "infeasible" else min(cutoff, float(model.getDualbound()))
        return Ended(values, bound, finished)


class Gurobi:
    """Gurobi, through gurobipy; needs a licence."""

    def __init__(self) -> None:
        try:
            import gurobipy
        except ImportError:
            raise MissingExtraError("gurobipy", "gurobi") from None
        self._gurobi: Any = gurobipy
        try:
            environment = gurobipy.Env(params={"OutputFlag": 0})
            self._model: Any = gurobipy.Model(env=environment)
        except gurobipy.GurobiError as error:
            raise SolverError(f"Gurobi does not start: {error}") from None

    def variable(self, lower: float, upper: float) -> Any:
        """Add a variable."""
        return self._model.addVar(lb=float(lower), ub=float(upper))

    def add(self, constraint: Any) -> None:
        """Add a constraint."""
        self._model.addConstr(constraint)

    def minimize(
        self, cost: Any, wanted: list[Any], cutoff: float, seconds: float, gap: float
    ) -> Ended:
        """Minimise below the cutoff."""
        model, codes = self._model, self._gurobi.GRB
        model.setObjective(cost, codes.MINIMIZE)
        model.Params.NonConvex = 2
        model.Params.MIPGap = gap
        model.Params.Threads = 1
        model.Params.Cutoff = cutoff
        if np.isfinite(seconds):
            model.Params.TimeLimit = max(float(seconds), 1e-3)
        try:
            model.optimize()
        except self._gurobi.GurobiError as error:
            raise SolverError(f"Gurobi refused the bilinear program: {error}") from None
        if model.Status == codes.INTERRUPTED:
            raise KeyboardInterrupt
        nothing = model.Status in (codes.CUTOFF, codes.INFEASIBLE, codes.INF_OR_UNBD)
        if not nothing and model.Status not in (codes.OPTIMAL, codes.TIME_LIMIT):
            raise SolverError(f"Gurobi ended with status {model.Status} on the bilinear program")
        values = np.array([each.X for each in wanted]) if model.SolCount > 0 else None
        bound = cutoff if nothing else min(cutoff, float(model.ObjBound))
        return Ended(values, bound, nothing or model.Status == codes.OPTIMAL)


BilinearSolver = Scip | Gurobi
