"""What to build: the best groups for a number of users and edges, and what random graphs give."""
