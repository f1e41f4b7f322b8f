"""Networks in which every link is observed."""
