"""Members of an organization."""
