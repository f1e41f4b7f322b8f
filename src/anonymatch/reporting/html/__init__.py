"""Pages: plain HTML that holds everything it needs."""
