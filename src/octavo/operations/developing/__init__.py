"""Local tools for integration authors: create an integration, publish it, and run it during development."""
