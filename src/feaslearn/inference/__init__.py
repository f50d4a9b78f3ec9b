"""Inference from fitted models: coverage of the data, explanation, consistency, bands."""

from __future__ import annotations

# Models answer through this package, which fits models: whichever is asked for, they come first.
import feaslearn.regressor  # noqa: F401
