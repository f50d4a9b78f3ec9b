"""Where each block of parameters stands in the flat vector theta."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import DataError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Named blocks of parameters, one after the other in theta.

    Examples
    --------
    >>> from feaslearn.hypotheses import Layout
    >>> layout = Layout({"A": (2, 1, 2), "b": (2, 1)})
    >>> layout.size
    6
    >>> layout.unpack(np.arange(6.0))["b"]
    array([[4.],
           [5.]])
    """

    shapes: dict[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(prod(shape) for shape in self.shapes.values())

    def unpack(self, theta: Array) -> dict[str, Array]:
        """Return the blocks of ``theta`` as views."""
        if np.shape(theta) != (self.size,):
            raise DataError(f"theta has shape {np.shape(theta)}; expected ({self.size},)")
        blocks, start = {}, 0
        for name, shape in self.shapes.items():
            stop = start + prod(shape)
            blocks[name] = theta[start:stop].reshape(shape)
            start = stop
        return blocks

    def pack(self, blocks: dict[str, Array]) -> Array:
        """Return theta, given its blocks."""
        if blocks.keys() != self.shapes.keys():
            raise DataError(f"theta has blocks {list(self.shapes)}, not {list(blocks)}")
        parts = [np.asarray(blocks[name], dtype=float) for name in self.shapes]
        for part, (name, shape) in zip(parts, self.shapes.items(), strict=True):
            if part.shape != shape:
                raise DataError(f"block {name!r} has shape {part.shape}; expected {shape}")
        return np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])
