"""The schema: one ordered list of SQL files."""
