"""One module a page: its state, what it computes, and how that is arranged."""
