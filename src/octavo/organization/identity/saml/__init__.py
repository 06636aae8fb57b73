"""SAML 2.0: identity providers of organizations, and signing in through them."""
