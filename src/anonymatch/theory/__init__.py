"""The paper: designs, attacks and its claims."""
