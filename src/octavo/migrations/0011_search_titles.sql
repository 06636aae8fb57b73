-- What each page is called, a line for each of its titles: a page called just what was asked for comes first.
ALTER TABLE search_pages ADD COLUMN titles TEXT NOT NULL DEFAULT '';
UPDATE search_pages SET titles = coalesce((
  SELECT p.title FROM page_versions p JOIN lines l ON l.id = p.line_id
  WHERE l.space_id = search_pages.space_id AND l.base_line IS NULL AND p.page_id = search_pages.page_id
    AND p.from_seq <= l.sequence AND p.to_seq > l.sequence), '');

-- Stems of titles and headings weigh as the words do. What was indexed before has them among those of the body.
-- only: sqlite
CREATE VIRTUAL TABLE search_index_again USING fts5(
  space, title, heading, body, title_stems, heading_stems, stems,
  tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
INSERT INTO search_index_again (rowid, space, title, heading, body, title_stems, heading_stems, stems)
  SELECT rowid, space, title, heading, body, '', '', stems FROM search_index;
DROP TABLE search_index;
ALTER TABLE search_index_again RENAME TO search_index;
-- end

-- only: postgresql
-- A plan for words not known yet would read all of a large space by it, instead of the rows that match.
DROP INDEX search_index_space;
-- Nor does each search read through a list of what was written last.
ALTER INDEX search_index_words SET (fastupdate = off);
ALTER INDEX search_index_stems SET (fastupdate = off);
-- end
