"""Graphs in files: a module a format, read and written by suffix, and what a file may cost."""
