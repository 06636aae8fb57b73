"""Sharing of spaces and collections with people and teams."""
