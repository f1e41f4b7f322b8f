"""Charts: values on axes."""
