"""The name of :mod:`anonymatch.theory.claims` in version 0.1; it stays until 0.3.0."""

from anonymatch.theory.claims import *  # noqa: F403
