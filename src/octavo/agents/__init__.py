"""Agents: programs that people connect, and that read and draft in an organization by the right of those people.

They ask tools over the Model Context Protocol; each tool is operations of the table, performed as the person. What they
did is noted under the agent's name, and undone in one step.
"""

from . import jobs as jobs
from . import recognizing as recognizing
from . import tables as tables
from .mcp_routes import agent_routes
from .site_oauth import SiteOAuth

__all__ = ["SiteOAuth", "agent_routes"]
