"""Questions that visitors asked a site's assistant, and the assistant's answers."""

from . import recording as recording
from . import tables as tables
