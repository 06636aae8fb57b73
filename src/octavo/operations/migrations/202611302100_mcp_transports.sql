-- How site renderers connect to an MCP server, and for which visitors.
ALTER TABLE site_mcp_servers ADD COLUMN transport TEXT NOT NULL DEFAULT 'sse';
ALTER TABLE site_mcp_servers ADD COLUMN condition TEXT;
