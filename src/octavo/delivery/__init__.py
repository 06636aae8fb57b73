"""What browsers and agents get: published sites, the app, and the MCP servers."""
