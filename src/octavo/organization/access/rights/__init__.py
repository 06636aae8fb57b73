"""Sharing spaces and collections with people and teams."""
