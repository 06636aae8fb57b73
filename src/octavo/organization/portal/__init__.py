"""Pages outside the app: sign-in, invitations, and single sign-on. They use only the API."""
