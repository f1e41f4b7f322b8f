"""Files of other people: a module a format."""
