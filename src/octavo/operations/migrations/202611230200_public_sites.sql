-- Index for the list of public sites at the root of the sites domain.
CREATE INDEX sites_of_everybody ON sites (id) WHERE published = 1 AND visibility = 'public';
