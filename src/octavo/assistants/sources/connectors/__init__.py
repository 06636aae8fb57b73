"""Connectors: kinds of sources, each in its own module."""
