"""One walk from one start: its iterates, what is recorded of them, and the best of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from feaslearn.results import Status

Array = NDArray[np.float64]


@dataclass
class Iterate:
    """Where a search stands: parameters, objective, gradient, and what the method remembers.

    Parameters
    ----------
    theta : ndarray
        Parameters, for standardised features.
    value : float
        What the method descends on: the training loss, or a smooth one in its place.
    gradient : ndarray
        Its gradient.
    memory : dict of str to float, optional
        What the method takes from one step to the next.
    finished : str, optional
        None until the method itself ends the walk, then how it ended.
    training_loss : float, optional
        The training loss, where ``value`` is another one.
    record : dict of str to float, optional
        Further quantities for the history.
    penalty : float, default=0.0
        What is added to the training loss where iterates are compared.
    steps : int, default=1
        How many iterations led here from the last iterate.
    exact : bool, default=False
        Whether every sample is explained, so that no other start need be tried.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.trainers import Iterate
    >>> Iterate(np.zeros(1), 0.5, np.ones(1)).finished is None
    True
    """

    theta: Array
    value: float
    gradient: Array
    memory: dict[str, float] = field(default_factory=dict)
    finished: Status | None = None
    training_loss: float | None = None
    record: dict[str, float] = field(default_factory=dict)
    penalty: float = 0.0
    steps: int = 1
    exact: bool = False

    @property
    def loss(self) -> float:
        """The training loss."""
        return self.value if self.training_loss is None else self.training_loss


Callback = Callable[[int, Iterate], bool | None]


@dataclass(eq=False)
class Walk:
    """What happened from one start, and the iterate of least loss.

    ``exact`` says that it explains every sample.
    """

    history: dict[str, list[float]] = field(default_factory=dict)
    status: Status = "iteration limit"
    theta: Array | None = None
    loss: float = np.inf
    steps: int = 0
    exact: bool = False

    def offer(self, theta: Array, loss: float, record: Mapping[str, float]) -> None:
        """Write the quantities of an iterate into the history, and keep it if it is the best."""
        for name, value in record.items():
            self.history.setdefault(name, []).append(value)
        if loss < self.loss:
            self.theta, self.loss = theta.copy(), loss


def best_walk(walks: list[Walk]) -> Walk | None:
    """Return the walk of least loss, the first of several; None if none has an iterate.

    The first exact one comes before all others, which need not have been walked then.
    """
    begun = [walk for walk in walks if walk.theta is not None]
    begun = [walk for walk in begun if walk.exact][:1] or begun
    return min(begun, key=lambda walk: walk.loss) if begun else None
