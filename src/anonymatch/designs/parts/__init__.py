"""Parts that designs are made of: their kinds, edges and counts."""
