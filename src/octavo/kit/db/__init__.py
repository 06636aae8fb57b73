"""Transactions on SQLite and PostgreSQL."""
