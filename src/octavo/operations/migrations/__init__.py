"""The database schema, as one ordered list of SQL files."""
