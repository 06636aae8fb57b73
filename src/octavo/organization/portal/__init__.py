"""Pages outside the app: sign-in, invitations, and single sign-on. They work entirely through the API."""
