"""Agents: apps that people connect to read and draft in an organization with their own permissions.

They call tools over the Model Context Protocol. Each tool performs operations of the table as the person.
Octavo logs their actions under the agent's name and can undo them in one step.
"""

from . import jobs as jobs
from . import recognizing as recognizing
from . import tables as tables
