"""Templates: built-in pages or an existing space to start from."""
