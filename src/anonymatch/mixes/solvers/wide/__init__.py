"""Chains over matchings of wide logs."""
