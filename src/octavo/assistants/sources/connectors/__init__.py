"""Connectors, one for each kind of source, each in its own module."""
