"""Tables in files: one reader for CSV, TSV, Parquet and JSON lines, and the limits of files."""

from anonymatch.base.lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
