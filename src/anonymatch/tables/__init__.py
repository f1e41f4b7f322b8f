"""Released tables: who may be behind which row, by every notion that has a name."""

from anonymatch.tables.linking import Links, link

__all__ = ["Links", "link"]
