"""Authentication and authorization: who can do what, and where."""

from . import tables as tables
