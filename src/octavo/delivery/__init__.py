"""Everything that browsers and agents access: published sites, the app, and the MCP servers."""
