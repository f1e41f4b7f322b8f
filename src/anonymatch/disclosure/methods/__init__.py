"""Attacks over many rounds: averages, regressions, matchings and chains."""
