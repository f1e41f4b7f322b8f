"""Mixes that send batches."""
