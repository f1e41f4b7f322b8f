"""Logs of rounds: files, message logs as rounds, and synthetic ones."""
