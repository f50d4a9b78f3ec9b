"""What a model keeps to go on learning from more samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

from feaslearn.trainers.streaming.drift_test import DriftTest
from feaslearn.trainers.streaming.moment_stream import AffineStream, MomentStream


@dataclass(frozen=True, eq=False)
class Stream:
    """What a model needs to go on learning.

    Parameters
    ----------
    n_samples, n_chunks : int
        How many samples it has seen, in how many calls.
    state : MomentStream or AffineStream
        What it has kept of them.
    drift : DriftTest or None
        Whether new samples still fit; None for an `AffineStream`.
    n_tied : int, default=0
        Samples at whose cost the minimisers of a term tie.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> model.partial_fit(data.signals, data.decisions).stream_.n_samples
    60
    """

    n_samples: int
    n_chunks: int
    state: MomentStream | AffineStream
    drift: DriftTest | None
    n_tied: int = 0

    def scaled(self, factor: float) -> Stream:
        """Return the stream with all weights multiplied by a factor."""
        return replace(self, state=self.state.scaled(factor))
