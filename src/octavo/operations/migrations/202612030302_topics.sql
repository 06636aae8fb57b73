-- Topics of the questions of a site. word: the significant word that its questions share; label: that word as it is
-- usually written. change_requests: whether its findings can become change requests.
CREATE TABLE site_topics (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  label TEXT NOT NULL,
  change_requests INTEGER NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (site_id, word)
);
ALTER TABLE site_questions ADD COLUMN topic_id TEXT REFERENCES site_topics(id) ON DELETE SET NULL;
CREATE INDEX site_questions_by_topic ON site_questions (topic_id);
