"""Interfaces for browsers and agents: published sites, the app, and the MCP servers."""
