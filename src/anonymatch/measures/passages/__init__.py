"""Messages through a mix of which only the ends are seen: a module a kind of chain."""
