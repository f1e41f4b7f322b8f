"""Exponential hops of which only the ends are observed, with losses and cover."""
