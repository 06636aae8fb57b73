"""Integrations and webhooks."""
