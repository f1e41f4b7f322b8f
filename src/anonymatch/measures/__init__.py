"""What the count means: degrees of anonymity, figures for each user, messages, and mixes."""
