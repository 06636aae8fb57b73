"""Organizations: people and their permissions, sign-in, spaces, and collections."""
