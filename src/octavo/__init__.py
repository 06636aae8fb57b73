"""Octavo: a self-hosted documentation platform with an open HTTP API."""
