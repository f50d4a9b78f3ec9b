"""Run the command line as ``python -m feaslearn``."""

from __future__ import annotations

from feaslearn.cli import main

if __name__ == "__main__":
    main()
