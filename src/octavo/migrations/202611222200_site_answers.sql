-- What a site's assistant answered, for as long as a conversation with it may go on. asker: a hash of who asked.
-- questions: JSON array of what was asked so far. answer: JSON, blocks and follow-up questions.
CREATE TABLE site_answers (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  asker TEXT NOT NULL,
  questions TEXT NOT NULL,
  answer TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_answers_by_age ON site_answers (created_at);
