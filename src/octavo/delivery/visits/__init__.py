"""Visits of published sites: verify that the sender of a request can see a site, and a space of it."""
