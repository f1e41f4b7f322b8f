"""Solvers: which departure belongs to which message."""
