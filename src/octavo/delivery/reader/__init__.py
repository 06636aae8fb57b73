"""Published sites, as their visitors see them."""
