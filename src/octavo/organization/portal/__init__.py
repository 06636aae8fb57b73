"""Pages that people are redirected to: sign-in, invitations, single sign-on, and consent. They use the API
for everything."""
