"""Proven bounds on the count, without counting."""
