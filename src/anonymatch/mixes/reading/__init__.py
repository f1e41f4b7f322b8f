"""What a file contains, and how it is read."""
