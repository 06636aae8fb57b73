"""Questions that visitors asked a site's assistant, and its answers."""

from . import recording as recording
from . import tables as tables
