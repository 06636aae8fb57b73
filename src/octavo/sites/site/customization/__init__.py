"""How a site looks, and what a site space has otherwise."""
