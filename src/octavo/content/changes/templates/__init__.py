"""Templates: pages to begin with, built in or taken from a space."""
