-- Under which conditions a piece of a section stands (JSON: expressions, all of which must hold); NULL: under none.
ALTER TABLE search_sections ADD COLUMN conditions TEXT;
-- Of what was indexed before it is not known: visitors of sites find it again once its page is indexed anew.
UPDATE search_sections SET conditions = '["false"]';
