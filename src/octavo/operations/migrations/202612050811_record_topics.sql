-- The topic of visitors' questions that a record's title mentions.
ALTER TABLE context_records ADD COLUMN topic_id TEXT REFERENCES site_topics(id) ON DELETE SET NULL;
CREATE INDEX context_records_by_topic ON context_records (topic_id, id) WHERE topic_id IS NOT NULL;
