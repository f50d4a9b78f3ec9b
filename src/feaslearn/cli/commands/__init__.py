"""What the commands take and what their help says; light, so that help comes at once."""

from __future__ import annotations
