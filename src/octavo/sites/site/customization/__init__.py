"""Customization of sites, and overrides of their site spaces."""
