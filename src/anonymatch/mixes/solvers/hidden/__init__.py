"""One exponential mix with losses and cover."""
