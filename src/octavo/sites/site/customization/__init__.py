"""Customization of sites, and overrides for site spaces."""
