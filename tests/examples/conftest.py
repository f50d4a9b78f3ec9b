"""A picture of an example is drawn, not empty, and closed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest


@pytest.fixture
def is_drawn(tmp_path: Path) -> Iterator[Callable[[Any], bool]]:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    def check(figure: Any) -> bool:
        path = tmp_path / "picture.png"
        figure.savefig(path)
        return path.stat().st_size > 5000

    yield check
    plt.close("all")
