"""One module a file format: each reads bytes into the parts of a graph and writes a graph."""
