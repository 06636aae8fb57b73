"""Language models: the one way to call them, an organization's instructions to them, and the log of all calls.

No feature requires a model. Callers use ``find_model`` and work without if there is none."""

from . import tables as tables
