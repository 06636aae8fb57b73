"""Questions that visitors asked the assistant of a site, with its answers."""

from . import recording as recording
from . import tables as tables
