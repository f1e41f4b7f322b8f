"""Networks of mixes whose links are observed."""
