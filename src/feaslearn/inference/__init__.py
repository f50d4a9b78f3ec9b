"""Inference below the estimator: coverage of the data, roles of columns, trust, bands."""

from __future__ import annotations
