"""Several hops of which only the ends are observed."""
