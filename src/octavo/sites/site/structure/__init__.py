"""Structure of a site: sections, groups of sections, and the spaces shown in them."""
