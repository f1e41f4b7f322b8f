"""Irreducible blocks: what a method gets, equal ones once, simpler ones, and what comes out."""
