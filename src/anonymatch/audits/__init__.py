"""Everything about one system in one answer: how good it is, for whom it is worst, and why."""
