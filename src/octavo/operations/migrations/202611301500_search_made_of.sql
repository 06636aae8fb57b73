-- Hashes of the sources and of the text of a derived page. An unchanged page is not indexed again; with NULL it is
-- indexed once more.
ALTER TABLE search_pages ADD COLUMN made_of TEXT;
ALTER TABLE search_pages ADD COLUMN made_text TEXT;
