"""Records of external MCP servers that a site's assistant can use."""
