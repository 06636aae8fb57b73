"""Local tools for authors of integrations: create an integration, publish it, and run it during
development."""
