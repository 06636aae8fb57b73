"""Pages outside the app: sign-in, invitations, and single sign-on. They do everything through the API."""
