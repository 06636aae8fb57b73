"""Programs that draw sites elsewhere: what an address shows, by which token they read it, and news of changes."""

from . import notifying as notifying
