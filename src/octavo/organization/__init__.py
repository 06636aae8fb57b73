"""Organizations: people and their rights, sign-in, spaces and collections."""
