"""``python -m sitegen``."""

from __future__ import annotations

from sitegen.cli import main

if __name__ == "__main__":
    main()
