"""Language models: calls to them, an organization's instructions, and the log of model calls. Code in other packages
doesn't call models directly.

No feature requires a model. Callers use ``find_model``, and work without a model if it returns None."""

from . import tables as tables
