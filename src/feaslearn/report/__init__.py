"""A report on a fitted model: one page that opens without a network (extra ``report``)."""

from __future__ import annotations

from feaslearn.report.report import write_report

__all__ = ["write_report"]
