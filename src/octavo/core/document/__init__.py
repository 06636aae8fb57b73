"""Documents: reading, writing and walking them."""
