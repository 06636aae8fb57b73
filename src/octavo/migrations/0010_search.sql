-- What main of each space says, section by section, in words that were folded before they came here.
CREATE TABLE search_pages (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  words TEXT NOT NULL,                   -- its different words, to take back what it counted
  PRIMARY KEY (space_id, page_id)
);

CREATE TABLE search_sections (
  id SERIAL_KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  anchor TEXT,                           -- NULL: before the first heading
  heading TEXT NOT NULL,
  body TEXT NOT NULL                     -- plain text, to quote from
);
CREATE INDEX search_sections_by_page ON search_sections (space_id, page_id);

-- In how many pages of a space a word stands: what a mistyped word may have meant.
CREATE TABLE search_words (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  pages INTEGER NOT NULL,
  PRIMARY KEY (space_id, word)
);

-- only: sqlite
CREATE VIRTUAL TABLE search_index USING fts5(
  space, title, heading, body, stems, tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
-- end
-- only: postgresql
CREATE TABLE search_index (
  section_id BIGINT PRIMARY KEY REFERENCES search_sections(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL,
  words TSVECTOR NOT NULL,
  stems TSVECTOR NOT NULL
);
CREATE INDEX search_index_words ON search_index USING gin (words);
CREATE INDEX search_index_stems ON search_index USING gin (stems);
CREATE INDEX search_index_space ON search_index (space_id);
-- end
