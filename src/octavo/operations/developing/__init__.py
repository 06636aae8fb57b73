"""Tools for authors of integrations on their own machine: start an integration, publish it, and run it
during development."""
