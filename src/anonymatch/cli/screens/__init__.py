"""Answers for people, a module a subject: every figure with one line that says what it means."""
