"""SAML 2.0: identity providers of organizations and sign-in through them."""
