"""The verdict on whether any region of a class explains data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from feaslearn.exceptions import NotFittedError
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.region import Region
from feaslearn.results import as_table, as_text

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor

#: Samples that are named in print.
NAMED = 20


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
        Samples that were tested.
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
        """Return what is worth showing, as pairs of a label and a string."""
        word = {True: "yes", False: "no", None: "not decided"}[self.consistent]
        shown = [("consistent", word), ("why", self.reason), ("tolerance", f"{self.tolerance:.4g}")]
        numbers = (
            ("loss", self.loss),
            ("lower bound", self.lower_bound),
            ("largest error", self.largest_error),
        )
        shown += [(label, f"{value:.6g}") for label, value in numbers if value is not None]
        if self.contradiction:
            text = name_samples(self.contradiction)
            more = ", each of them needed" if self.irreducible else ""
            shown.append(("contradiction", f"samples {text}{more}"))
        if self.suspects:
            shown.append(("suspects", f"samples {name_samples(self.suspects)}"))
        return [*shown, ("seconds", f"{self.seconds:.3g}")]

    def __repr__(self) -> str:
        return as_text(self.rows())

    def _repr_html_(self) -> str:
        return as_table(self.rows())


def name_samples(samples: tuple[int, ...]) -> str:
    """Return the numbers of samples as a string, of many only the first."""
    more = f" and {len(samples) - NAMED} more" if len(samples) > NAMED else ""
    return ", ".join(str(sample) for sample in samples[:NAMED]) + more
