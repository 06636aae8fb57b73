"""Sign-in: accounts, sessions, two-factor authentication, passkeys, OpenID Connect, and SAML."""

from . import tables as tables
