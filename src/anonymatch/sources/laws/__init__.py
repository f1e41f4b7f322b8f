"""Delay laws: how long a mix holds messages back."""
