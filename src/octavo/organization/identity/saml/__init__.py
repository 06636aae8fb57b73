"""SAML 2.0: organizations' identity providers, and signing in through them."""
