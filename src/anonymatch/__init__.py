"""Measure and design anonymity by counting perfect matchings."""
