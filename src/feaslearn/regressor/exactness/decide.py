"""Can any region of a class explain these data exactly?"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from feaslearn.costs import CostSpecification
from feaslearn.data import Decisions
from feaslearn.hypotheses import Facets
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.regressor.exactness.by_hull import decide_by_hull
from feaslearn.regressor.exactness.by_rows import decide_by_rows
from feaslearn.regressor.exactness.by_search import decide_by_search
from feaslearn.regressor.exactness.question import ask
from feaslearn.regressor.exactness.verdict import Verdict
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.trainers.convex import as_minkowski


def consistency(
    data: Any,
    hypothesis: Hypothesis,
    *,
    cost: CostSpecification | None = None,
    features: Any = "non-cost",
    sense: Literal["min", "max"] = "min",
    tolerance: float = 1e-6,
    max_seconds: float | None = 60.0,
    random_state: int | np.random.Generator | None = 0,
) -> Verdict:
    r"""Say whether any region of a class explains data exactly.

    .. math:: \exists \theta: \quad x_i \in \arg\min \{c_i'x : x \in R_\theta(s_i)\} \quad \forall i

    `Minkowski`, `Scaled` and linear policies are decided by linear programs, `Facets` by one for
    each sample, binary sets and `Ternary` by branch and bound. For `Affine` the bilinear program is
    tried within the time, where SCIP or Gurobi is installed. What is not proved is not claimed: the
    answer is then "not decided".

    Parameters
    ----------
    data : Decisions or pair of array-like
        The samples; of arrays or frames, signals and decisions.
    hypothesis : Hypothesis
        The class.
    cost : cost specification, default=None
        How costs are read from signals; None takes that of `Decisions`.
    features : {"non-cost", "all"} or transformer, default="non-cost"
        What the region may depend on, as in `RegionRegressor`.
    sense : {"min", "max"}, default="min"
        Whether decisions minimise or maximise the cost.
    tolerance : float, default=1e-6
        Error of a decision that counts as none, as a share of the largest range of a decision. With
        the size of the noise, the question is whether noise alone explains what is left.
    max_seconds : float, default=60.0
        Limit on what takes long: proofs for `Affine`, binary sets and `Ternary`, the tests of
        `Facets`, and the search for the samples to blame.
    random_state : int, Generator or None, default=0
        Seed of the starts.

    Returns
    -------
    Verdict
        Yes with the region, or no with the least loss and samples that contradict each other.

    Raises
    ------
    DataError
        One error that names everything wrong with the data.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> decisions = data.decisions.copy()
    >>> decisions[7] = [0.8, 0.4]
    >>> changed = fl.Decisions.from_arrays(data.signals, decisions, cost=data.cost)
    >>> answer = fl.consistency(changed, fl.Scaled(fl.Simplex(2)))
    >>> answer.consistent, answer.suspects
    (False, (7,))
    """
    if cost is None and isinstance(data, Decisions):
        cost = data.cost
    model = RegionRegressor(
        hypothesis, cost=cost, features=features, sense=sense, random_state=random_state
    )
    question = ask(data, model, tolerance, max_seconds)
    linear = as_minkowski(hypothesis, question.rows.decisions.shape[1])
    if linear is not None:
        return decide_by_rows(question, linear)
    if isinstance(hypothesis, Facets):
        return decide_by_hull(question, hypothesis)
    return decide_by_search(question)
