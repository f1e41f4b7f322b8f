"""Message logs: arrivals, departures and their conditions."""
