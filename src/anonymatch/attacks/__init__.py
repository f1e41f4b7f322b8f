"""What an attacker gains by exposing users, and which edges would help most against it."""
