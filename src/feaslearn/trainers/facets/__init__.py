"""Facets of exact decisions: the constraints themselves, from plain arrays."""

from __future__ import annotations

from feaslearn.trainers.facets.learn import Learned, learn_facets

__all__ = ["Learned", "learn_facets"]
