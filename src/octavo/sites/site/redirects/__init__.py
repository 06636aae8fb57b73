"""Redirects that people set: from a path of the site at which nothing is."""
