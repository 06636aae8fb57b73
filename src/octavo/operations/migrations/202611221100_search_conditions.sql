-- Conditions of a part of a section (JSON: expressions, all of which must be met); NULL: none.
ALTER TABLE search_sections ADD COLUMN conditions TEXT;
-- Unknown for previously indexed pages: visitors of sites find them again once they have been reindexed.
UPDATE search_sections SET conditions = '["false"]';
