"""What browsers get: published sites and the app."""
