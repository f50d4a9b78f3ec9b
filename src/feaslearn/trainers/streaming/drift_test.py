"""Do new samples still fit? A bet on losses that grow, against the ranks they should have."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from feaslearn.arrays import Array

#: Latest losses that a new one is compared with.
REMEMBERED = 1000
#: Samples of a chunk that are looked at.
LOOKED_AT = 1000


@dataclass(frozen=True, eq=False)
class DriftTest:
    r"""Watches the losses of samples that a model has not learned from yet.

    While nothing changes, the rank of a new loss among those before is uniform: with
    :math:`p_t` = the share of losses that are at least as large, its own included,

    .. math:: E_t = (1 + E_{t-1}) \frac{1}{2 \sqrt{p_t}}, \qquad \text{alarm where } E_t \ge 1/r

    multiplies by one on average and adds one, so :math:`E_t - t` does not rise on average, and the
    mean number of samples to a false alarm is at least :math:`1/r`, whatever the distribution of
    the losses (Shiryaev and Roberts; the ranks are those of conformal test martingales). That is
    exact while no more than 1000 losses are compared with, and measured beyond. Losses that fall,
    as those of a model that still learns, raise none.

    Parameters
    ----------
    rate : float
        The number r: false alarms for each sample, at most.
    reference : ndarray
        The losses that new ones are compared with, in the order they came.
    evidence : float, default=0.0
        The statistic :math:`E_t`.
    seen : int, default=0
        Samples that were tested or passed over.
    alarms : tuple of int, default=()
        After how many samples there were alarms. Each begins a new comparison.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.trainers.streaming import DriftTest
    >>> losses = np.random.default_rng(0).exponential(size=600)
    >>> losses[500:] *= 4.0
    >>> test = DriftTest(rate=1e-5).after(losses[:500])
    >>> test.alarms
    ()
    >>> test.after(losses[500:]).alarms
    (522,)
    """

    rate: float
    reference: Array = field(default_factory=lambda: np.zeros(0))
    evidence: float = 0.0
    seen: int = 0
    alarms: tuple[int, ...] = ()

    def after(self, losses: Array, least: float = 0.0) -> Self:
        """Return the test after some more losses; those below ``least`` count as equal.

        Of more than 1000 losses, some are looked at for all.
        """
        step = 1 + len(losses) // LOOKED_AT
        kept, evidence, alarms = list(self.reference), self.evidence, list(self.alarms)
        ordered = sorted(kept)
        for place in range(0, len(losses), step):
            loss = max(float(losses[place]), least)
            larger = len(ordered) - bisect_left(ordered, loss)
            rank = (1.0 + larger) / (1.0 + len(ordered))
            evidence = (1.0 + evidence) * 0.5 / np.sqrt(rank)
            kept.append(loss)
            insort(ordered, loss)
            if evidence >= 1.0 / self.rate:
                alarms.append(self.seen + place + 1)
                kept, ordered, evidence = [], [], 0.0
            elif len(kept) > REMEMBERED:
                del ordered[bisect_left(ordered, kept.pop(0))]
        return replace(
            self,
            reference=np.array(kept),
            evidence=float(evidence),
            seen=self.seen + len(losses),
            alarms=tuple(alarms),
        )
