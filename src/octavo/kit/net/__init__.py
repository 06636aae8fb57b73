"""Outgoing connections."""
