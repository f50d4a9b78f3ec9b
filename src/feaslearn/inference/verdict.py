"""The answer to: can any region of a class explain these data?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from feaslearn.data import Block, Decisions
from feaslearn.exceptions import DataError, NotFittedError, Problems
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Predictability
from feaslearn.parameters import POSITIVE, check_value
from feaslearn.region import Region
from feaslearn.regressor.checks import check_fit
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.results import as_table, as_text
from feaslearn.trainers import Trainer
from feaslearn.trainers.trainer import MAX_SECONDS

#: Samples that are listed in print.
LISTED = 20

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, repr=False, eq=False)
class Verdict:
    r"""Whether some region of a class makes every observed decision optimal.

    .. math:: \exists \theta: \quad x_i \in \arg\min \{c_i'x : x \in R_\theta(s_i)\} \quad \forall i

    Its truth value is true where the answer is yes.

    Parameters
    ----------
    consistent : bool or None
        The answer; None where it was not decided.
    reason : str
        Why, in words.
    hypothesis : Hypothesis
        The class.
    n_samples : int
        Samples that were looked at.
    tolerance : float
        Largest error of a decision that counts as none, in the unit of the decisions.
    seconds : float
        Wall time.
    model : RegionRegressor or None
        The region that explains the data, or the best one that was found.
    loss : float or None
        Its mean squared distance between decisions and minimisers, the least there is where
        ``lower_bound`` says so.
    lower_bound : float or None
        No region of the class has a smaller loss, where that is known.
    largest_error : float or None
        The largest error of the model in an observed decision.
    contradiction : tuple of int
        Samples that no region of the class explains together.
    irreducible : bool
        Whether each of them is needed for that.
    suspects : tuple of int
        Samples without which all others can be explained. If ``alone`` each of them is enough,
        otherwise all of them must go.
    alone : bool
        Whether one suspect is enough.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> print(fl.consistency(data, fl.Scaled(fl.Simplex(2))))
    consistent     yes
    why            one region of Scaled(primitive=Simplex(p=2)) explains all 60 samples
    tolerance      1e-06
    loss           ...
    lower bound    ...
    largest error  ...
    seconds        ...
    """

    consistent: bool | None
    reason: str
    hypothesis: Hypothesis
    n_samples: int
    tolerance: float
    seconds: float
    model: RegionRegressor | None = None
    loss: float | None = None
    lower_bound: float | None = None
    largest_error: float | None = None
    contradiction: tuple[int, ...] = ()
    irreducible: bool = False
    suspects: tuple[int, ...] = ()
    alone: bool = True

    def __bool__(self) -> bool:
        return self.consistent is True

    def region(self, signal: ArrayLike) -> Region:
        """Return the region that was found at one signal.

        Parameters
        ----------
        signal : array-like of shape (K,)
            A signal, or a frame of one row.

        Returns
        -------
        Region
            The region of ``model``.
        """
        if self.model is None:
            raise NotFittedError("consistency: no region was found, so there is none to show")
        return self.model.region(signal)

    def rows(self) -> list[tuple[str, str]]:
        """Return what is worth showing, as pairs of a label and a text."""
        word = {True: "yes", False: "no", None: "not decided"}[self.consistent]
        shown = [("consistent", word), ("why", self.reason), ("tolerance", f"{self.tolerance:.4g}")]
        numbers = (
            ("loss", self.loss),
            ("lower bound", self.lower_bound),
            ("largest error", self.largest_error),
        )
        shown += [(label, f"{value:.6g}") for label, value in numbers if value is not None]
        if self.contradiction:
            text = listed(self.contradiction)
            more = ", each of them needed" if self.irreducible else ""
            shown.append(("contradiction", f"samples {text}{more}"))
        if self.suspects:
            shown.append(("suspects", f"samples {listed(self.suspects)}"))
        return [*shown, ("seconds", f"{self.seconds:.3g}")]

    def __repr__(self) -> str:
        return as_text(self.rows())

    def _repr_html_(self) -> str:
        return as_table(self.rows())


def listed(samples: tuple[int, ...]) -> str:
    """Return the numbers of samples as a text, of many only the first."""
    more = f" and {len(samples) - LISTED} more" if len(samples) > LISTED else ""
    return ", ".join(str(sample) for sample in samples[:LISTED]) + more


# What is asked: data, a class, and how exact is exact.


@dataclass(frozen=True)
class Question:
    """A class and samples, with the costs to minimise.

    ``places`` are the numbers of the samples among those that the user gave; ``unit`` is the
    largest range of a decision, and ``tolerance`` the error that counts as none in that unit.
    """

    model: RegionRegressor
    X: Any
    y: Any
    rows: Block
    places: Places
    unit: float
    tolerance: float
    began: float
    max_seconds: float

    @property
    def hypothesis(self) -> Hypothesis:
        """The class."""
        hypothesis = self.model.hypothesis
        if hypothesis is None:
            raise AssertionError("refused by ask")
        return hypothesis

    @property
    def until(self) -> float:
        """When to stop, by `time.monotonic`."""
        return self.began + self.max_seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.until - time.monotonic())

    def fitted(self, trainer: Trainer, some: Places | None = None) -> RegionRegressor:
        """Return a model of all samples, or some, trained by a trainer."""
        model: RegionRegressor = clone(self.model).set_params(trainer=trainer)
        if some is None:
            return model.fit(self.X, self.y)
        chosen = self.places[some]
        X, y = (np.asarray(table)[chosen] for table in (self.X, self.y))
        return model.fit(X, y)

    def errors(self, model: RegionRegressor) -> Array:
        """Return how far each sample is from the nearest minimiser of a model, in units."""
        largest = Predictability("linf", squared=False)
        return largest.samples(model.hypothesis_, model.theta_, self.rows) / self.unit

    def answer(self, consistent: bool | None, reason: str, **found: Any) -> Verdict:
        """Return the answer, with the loss and the error of the model if there is one."""
        model: RegionRegressor | None = found.get("model")
        if model is not None:
            found.setdefault("loss", model.result_.objective)
            found.setdefault("lower_bound", model.result_.lower_bound)
            found["largest_error"] = float(self.errors(model).max() * self.unit)
        for name in ("contradiction", "suspects"):
            found[name] = tuple(int(self.places[i]) for i in found.get(name, ()))
        return Verdict(
            consistent,
            reason,
            self.hypothesis,
            len(self.places),
            self.tolerance * self.unit,
            time.monotonic() - self.began,
            **found,
        )


def ask(
    data: Any,
    model: RegionRegressor,
    tolerance: float,
    max_seconds: float | None,
) -> Question:
    """Check data and numbers; raise one error that names everything."""
    began, problems = time.monotonic(), Problems()
    if isinstance(data, Decisions):
        X, y = data.signals, data.decisions
    elif isinstance(data, tuple) and len(data) == 2:
        X, y = data
    else:
        raise DataError("consistency: data must be Decisions, or a pair (signals, decisions)")
    if not isinstance(model.hypothesis, Hypothesis):
        problems.add(f"hypothesis={model.hypothesis!r} is not a class of regions such as Facets()")
    if model.cost is None:
        problems.add("no cost was given: without prices any decision is optimal somewhere")
    check_value("tolerance", tolerance, POSITIVE, problems)
    check_value("max_seconds", max_seconds, MAX_SECONDS, problems)
    problems.raise_if_any(DataError, "consistency")
    rows = check_fit(model, X, y, None, None).samples.load()
    seen = ~np.isnan(np.asarray(y, dtype=float).reshape(len(np.asarray(y)), -1)).all(axis=1)
    ranges = np.nanmax(rows.decisions, axis=0) - np.nanmin(rows.decisions, axis=0)
    unit = float(ranges.max()) or float(np.nanmax(np.abs(rows.decisions))) or 1.0
    places = np.flatnonzero(seen)
    limit = np.inf if max_seconds is None else float(max_seconds)
    return Question(model, X, y, rows, places, unit, float(tolerance), began, limit)
