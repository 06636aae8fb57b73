"""MCP servers of others that a site's assistant may ask: their records."""
