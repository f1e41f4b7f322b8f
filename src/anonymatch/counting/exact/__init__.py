"""Exact methods, a module each."""
