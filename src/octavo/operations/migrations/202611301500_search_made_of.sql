-- Of a page that is made of something else: hashes of what it was made of, and of the text that came of it. What has not
-- changed is not indexed again; NULL is indexed once more.
ALTER TABLE search_pages ADD COLUMN made_of TEXT;
ALTER TABLE search_pages ADD COLUMN made_text TEXT;
