"""Who may have which rows: flows, closed forms and chains."""
