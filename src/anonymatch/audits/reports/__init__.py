"""Audits and comparisons as reports and charts."""
