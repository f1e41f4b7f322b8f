"""``python -m anonymatch`` is the same as ``anonymatch``."""

from __future__ import annotations

from anonymatch_start import main

if __name__ == "__main__":
    raise SystemExit(main())
