"""Explanations: limits that the data pin, limits not seen, components of the region."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from feaslearn.inference.coverage import FEWEST_ROWS
from feaslearn.printable import printable

#: Share of samples below which a limit is shown by few.
FEW = 0.02


@dataclass(frozen=True)
class Limit:
    """One limit of a decision, and the share of the samples that show it.

    Parameters
    ----------
    decision : str
        Name of the decision.
    side : {"upper", "lower"}
        Which limit.
    share : float
        Share of the samples whose prices push the decision to it.
    known : bool, default=False
        Whether it was given as a known constraint.
    rows : int or None, default=None
        How many samples these are, where it is known.

    Examples
    --------
    >>> from feaslearn.regressor import Limit
    >>> print(Limit("unit 3", "upper", 0.0))
    the data say nothing about the upper limit of unit 3: no price ever pushed it there
    """

    decision: str
    side: str
    share: float
    known: bool = False
    rows: int | None = None

    @property
    def pinned(self) -> bool:
        """Whether samples show it: one alone is only the farthest so far."""
        return self.share > 0.0 and (self.rows is None or self.rows >= FEWEST_ROWS)

    def __str__(self) -> str:
        if self.known and not self.pinned:
            return f"the {self.side} limit of {self.decision} is known, and no sample shows it"
        if not self.pinned:
            once = ", but once" if self.share > 0.0 else ""
            return (
                f"the data say nothing about the {self.side} limit of {self.decision}: no price "
                f"ever pushed it there{once}"
            )
        few = ", which is few" if self.share < FEW else ""
        return (
            f"the {self.side} limit of {self.decision} is shown by {100 * self.share:.3g} % of the "
            f"samples{few}"
        )


@dataclass(frozen=True)
class Outside:
    """A column of a signal that lies outside the range of the training data.

    Parameters
    ----------
    column : str
        Its name.
    value, low, high : float
        Its value, and the ends of the range.
    """

    column: str
    value: float
    low: float
    high: float

    @property
    def ranges(self) -> float:
        """By how many times the range the value is outside; infinite where the range is a point."""
        beyond = max(self.low - self.value, self.value - self.high)
        return beyond / (self.high - self.low) if self.high > self.low else float("inf")

    def __str__(self) -> str:
        if self.high == self.low:
            return f"{self.column} is {self.value:.4g}; in the data it was always {self.low:.4g}"
        return (
            f"{self.column} is {self.value:.4g}, outside {self.low:.4g} to {self.high:.4g} by "
            f"{self.ranges:.2g} times that range"
        )


@dataclass(frozen=True)
class Resting:
    """A limit that holds one decision.

    Parameters
    ----------
    name, text : str
        Its name, and the limit itself.
    status : {"identified", "seen", "not seen"}
        What the data say about it.
    saves : float or None
        What one unit more on the right-hand side of the text would save; None where it is not
        known.
    """

    name: str
    text: str
    status: str
    saves: float | None = None

    def __str__(self) -> str:
        label = f"{self.name}: {self.text}" if self.name.startswith("facet") else self.text
        worth = "" if self.saves is None else f", one unit more saves {self.saves:.4g}"
        return f"{label} ({self.status}{worth})"


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a fitted model knows, in the names of the data.

    Parameters
    ----------
    hypothesis : str
        What was fitted.
    n_samples : int
        To how many samples.
    limits : tuple of Limit
        The limits of every decision.
    carriers : tuple of str
        Terms, columns, facets or members, those that count most first.
    outside : tuple of Outside or None
        Columns of the signal outside the training range; None where no signal was given.
    price_angle : float or None
        Angle in degrees between the prices at the signal and the nearest ones in the data.
    remarks : tuple of str
        What else the signal brings about.
    looked_at : int or None
        How many samples the shares are about, where that is not all of them.
    decision : tuple of (str, float)
        Names and values of the decision at the signal; empty where prices are not known.
    rests_on : tuple of Resting
        The limits that hold it, those worth most first.
    """

    hypothesis: str
    n_samples: int
    limits: tuple[Limit, ...]
    carriers: tuple[str, ...]
    outside: tuple[Outside, ...] | None = None
    price_angle: float | None = None
    remarks: tuple[str, ...] = ()
    looked_at: int | None = None
    decision: tuple[tuple[str, float], ...] = ()
    rests_on: tuple[Resting, ...] = ()

    @property
    def unseen(self) -> tuple[Limit, ...]:
        """The limits about which the data say nothing."""
        return tuple(limit for limit in self.limits if not limit.pinned and not limit.known)

    def sections(self) -> list[tuple[str, list[str]]]:
        """Return headings with their lines."""
        part = f", of which {self.looked_at} were looked at" if self.looked_at else ""
        shown = [
            (f"{self.hypothesis}, fitted to {self.n_samples} samples{part}", []),
            ("pinned by data", [str(limit) for limit in self.limits if limit.pinned]),
            (
                "known, not seen",
                [str(limit) for limit in self.limits if limit.known and not limit.pinned],
            ),
            ("not seen", [str(limit) for limit in self.unseen]),
            ("what carries the region", list(self.carriers)),
        ]
        if self.outside is not None:
            shown.append(("this signal", self._signal()))
        return [(heading, lines) for heading, lines in shown if lines or heading == shown[0][0]]

    def _signal(self) -> list[str]:
        lines = [str(column) for column in self.outside or ()]
        lines = lines or ["every signal lies within the range of the data"]
        if self.price_angle is not None:
            lines.append(
                f"its prices point {self.price_angle:.2g} degrees away from the nearest in the data"
            )
        if self.decision:
            values = ", ".join(f"{name} = {value:.4g}" for name, value in self.decision)
            lines.append(f"its decision is {values}")
        lines += [f"it stops at {limit}" for limit in self.rests_on]
        return [*lines, *self.remarks]

    def __repr__(self) -> str:
        return "\n".join(
            "\n".join([printable(heading), *(f"  {printable(line)}" for line in lines)])
            for heading, lines in self.sections()
        )

    def _repr_html_(self) -> str:
        parts = []
        for heading, lines in self.sections():
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(
                f"<p><b>{escape(heading)}</b></p>" + (f"<ul>{items}</ul>" if items else "")
            )
        return "".join(parts)
