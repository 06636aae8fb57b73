-- The root of the address of sites lists those that everybody may see.
CREATE INDEX sites_of_everybody ON sites (id) WHERE published = 1 AND visibility = 'public';
