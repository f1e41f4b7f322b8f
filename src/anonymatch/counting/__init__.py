"""How many perfect matchings: reduce a graph to blocks, plan, run, combine."""
