"""Agents: apps that people connect to an organization to read and draft content with the person's permissions.

Agents call tools over the Model Context Protocol. Each tool performs API operations as the person. Octavo logs
these actions under the agent's name and can undo them in one step."""

from . import jobs as jobs
from . import recognizing as recognizing
from . import tables as tables
