"""Language models: the only code that calls them, an organization's instructions to them, and the log of all
calls.

No feature requires a model. Callers use ``find_model`` and work without a model if it returns None."""

from . import tables as tables
