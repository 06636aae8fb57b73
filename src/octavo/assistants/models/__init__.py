"""Language models: the one way to ask one, what organizations tell them, and the log of all calls.

Nothing needs a model. Whoever can use one asks ``find_model`` and does without where there is none.
"""

from . import tables as tables
