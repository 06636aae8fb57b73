"""Who reads a site that is not open to everybody: share links, signed visitors, and what is known of them."""
