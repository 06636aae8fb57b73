"""Encryption of stored secrets and signed tokens."""
