"""The members of an organization."""
