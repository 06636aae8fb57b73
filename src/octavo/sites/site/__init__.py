"""Published sites: their spaces and audiences."""

from . import authorization as authorization
from . import prints as prints
from . import repositories as repositories
from . import sharing as sharing
from . import tables as tables
from . import variants as variants
