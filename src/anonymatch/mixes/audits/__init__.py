"""Audits of message logs and networks."""
