"""The checks of the constructor's arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, FeaslearnError, Problems, SetError, UnsupportedError
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Loss, Objective, Predictability, Suboptimality
from feaslearn.parameters import Constraints, Either, Integer, Is, an_instance, check_value
from feaslearn.trainers import Trainer
from feaslearn.trainers.trainer import MAX_SECONDS

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor


LOSSES: dict[str, type[Loss]] = {"predictability": Predictability, "suboptimality": Suboptimality}
#: Numbers of threads that joblib knows.
N_JOBS = Either(None, Is(lambda n: Integer().holds(n) and n != 0, "an integer besides 0"))
CONSTRAINTS: Constraints = {
    "hypothesis": Is(
        lambda value: value is None or isinstance(value, Hypothesis),
        "a hypothesis such as Affine(Simplex(9))",
    ),
    "trainer": Either("auto", an_instance(Trainer, "one of feaslearn.trainers")),
    "sense": Either("min", "max"),
    "verbose": Is(lambda value: isinstance(value, Integral), "an integer"),
    "n_jobs": N_JOBS,
    "max_seconds": MAX_SECONDS,
}


def check_parameters(
    model: RegionRegressor, problems: FitProblems
) -> tuple[Loss | None, np.random.Generator | None]:
    """Check what needs no data; return the loss and the generator, where they can be made."""
    for name, constraint in CONSTRAINTS.items():
        check_value(name, getattr(model, name), constraint, problems)
    if isinstance(model.trainer, Trainer):
        model.trainer.check(problems)
    return _check_loss(model.loss, problems), _check_random_state(model.random_state, problems)


def _check_loss(loss: Any, problems: FitProblems) -> Loss | None:
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]()
    if not isinstance(loss, Loss):
        problems.add(f"loss={loss!r} is neither a Loss nor one of {sorted(LOSSES)}")
        return None
    with problems.taking():
        loss.norm_code()
    return loss


def _check_random_state(random_state: Any, problems: FitProblems) -> np.random.Generator | None:
    try:
        if isinstance(random_state, np.random.RandomState):
            return np.random.default_rng(random_state.randint(2**31 - 1))
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        problems.add(f"random_state={random_state!r} is not a seed ({error})")
    return None


def check_combination(model: RegionRegressor, loss: Loss, n: int, problems: FitProblems) -> None:
    """Check the set against the number of decisions, and the trainer against both."""
    hypothesis = model.hypothesis
    if not isinstance(hypothesis, Hypothesis):
        return
    before = len(problems)
    with problems.taking():
        hypothesis.check(n)
    if isinstance(model.trainer, Trainer) and len(problems) == before:
        empty = Block(np.empty((0, 1)), np.empty((0, n)), np.empty((0, n)), np.empty(0))
        with problems.taking():
            model.trainer.refuse(Objective(loss, hypothesis.with_size(1), Samples.of(empty)))


# Problems of a fit, from all the parts it has.


class FitProblems(Problems):
    """Problems of a fit, some of which come as errors of other parts."""

    def __init__(self) -> None:
        super().__init__()
        self._others: list[type[FeaslearnError]] = []

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Take an error as one problem among others."""
        try:
            yield
        except DataError as error:
            self.add(str(error), error=type(error))
        except (SetError, UnsupportedError) as error:
            self.add(str(error), error=type(error))
            self._others.append(type(error))

    def raise_all(self) -> None:
        """Raise one `DataError`; a single problem of a set or a combination keeps its class."""
        alone = len(self) == len(self._others) == 1
        self.raise_if_any(self._others[0] if alone else DataError, "RegionRegressor")
