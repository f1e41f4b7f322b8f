"""Readers of released tables."""
