"""The few pages that people are sent to: signing in, taking an invitation, and what single sign-on asks. All they do,
the API does."""
