"""Published sites, as presented to their visitors."""
