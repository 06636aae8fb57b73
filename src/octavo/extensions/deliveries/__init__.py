"""Events on their way to their recipients, and the outcome of each."""

from . import tables as tables
