"""Language models: calls to them, an organization's instructions, and the log of model calls. No other code calls a
model.

No feature requires a model. Callers use ``find_model``, and work without a model if it returns None."""

from . import tables as tables
