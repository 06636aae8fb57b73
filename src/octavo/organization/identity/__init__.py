"""Sign-in: accounts, sessions, factors, OpenID Connect, SAML."""

from . import tables as tables
