"""Which method for which block, and running what was chosen."""
