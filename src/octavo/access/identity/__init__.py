"""Signing in, and what proves it afterwards."""
