-- Answers of a site's assistant, kept as long as a conversation can continue. asker: hash of the asker. questions: JSON
-- array of the questions so far. answer: JSON with blocks and follow-up questions.
CREATE TABLE site_answers (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  asker TEXT NOT NULL,
  questions TEXT NOT NULL,
  answer TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_answers_by_age ON site_answers (created_at);

-- Status of ads, in a column for queries.
ALTER TABLE sites ADD COLUMN ads_status TEXT;
-- only: sqlite
UPDATE sites SET ads_status = json_extract(settings, '$.ads.status');
-- end
-- only: postgresql
UPDATE sites SET ads_status = settings::json -> 'ads' ->> 'status';
-- end
CREATE INDEX sites_by_ads ON sites (organization_id, ads_status, id) WHERE ads_status IS NOT NULL;
