"""Templates: built-in pages or those of a space, to start with."""
