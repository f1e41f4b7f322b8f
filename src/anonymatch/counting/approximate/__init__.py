"""Counts, posteriors and samples beyond exact reach, with intervals."""
