"""Logs drawn at random."""
