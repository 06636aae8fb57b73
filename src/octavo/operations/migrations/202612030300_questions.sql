-- Questions that visitors asked the assistant of a site, and the answers that they received. They contain no data about
-- the visitors themselves, and are deleted as early as events.

-- text: the question as it was asked first. The counts are those of its answers, so that lists can be sorted by them.
CREATE TABLE site_questions (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  type TEXT NOT NULL,                    -- exploring, how-to, troubleshooting, reference, unknown
  answers INTEGER NOT NULL DEFAULT 0,
  answered INTEGER NOT NULL DEFAULT 0,   -- answers that answer it
  rating INTEGER NOT NULL DEFAULT 0,     -- positive minus negative ratings
  created_at BIGINT NOT NULL,
  asked_at BIGINT NOT NULL
);
CREATE INDEX site_questions_by_site ON site_questions (site_id, id);
CREATE INDEX site_questions_by_time ON site_questions (site_id, asked_at, id);

-- Every wording of a question. wording: hash of its significant words.
CREATE TABLE site_question_wordings (
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  wording TEXT NOT NULL,
  question_id TEXT NOT NULL REFERENCES site_questions(id) ON DELETE CASCADE,
  PRIMARY KEY (site_id, wording)
);
CREATE INDEX site_question_wordings_by_question ON site_question_wordings (question_id);

-- The significant words of the first wording, to find similar questions.
CREATE TABLE site_question_words (
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  question_id TEXT NOT NULL REFERENCES site_questions(id) ON DELETE CASCADE,
  PRIMARY KEY (site_id, word, question_id)
);
CREATE INDEX site_question_words_by_question ON site_question_words (question_id);

-- thread_id: the first answer of the conversation, which is the answer itself if it continues none. response: JSON, the
-- blocks of the answer.
CREATE TABLE site_question_answers (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  question_id TEXT NOT NULL REFERENCES site_questions(id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  raw TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  previous_id TEXT,
  response_id TEXT NOT NULL,
  language TEXT NOT NULL,
  answered TEXT NOT NULL,                -- yes, partially, no
  relevance TEXT NOT NULL,               -- relevant, spam, off-topic, unclear
  rating INTEGER,                        -- 1 or -1
  channel_type TEXT NOT NULL,
  channel_id TEXT,
  response TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (site_id, response_id)
);
CREATE INDEX site_question_answers_by_site ON site_question_answers (site_id, id);
CREATE INDEX site_question_answers_by_question ON site_question_answers (question_id, created_at);
CREATE INDEX site_question_answers_by_thread ON site_question_answers (thread_id, id);
CREATE INDEX site_question_answers_by_time ON site_question_answers (created_at);

-- Pages that an answer is based on. weight: share of the question's words that the page contains, in percent.
CREATE TABLE site_question_sources (
  answer_id TEXT NOT NULL REFERENCES site_question_answers(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL,
  page_id TEXT NOT NULL,
  revision_id TEXT NOT NULL,
  title TEXT NOT NULL,
  weight INTEGER NOT NULL,
  PRIMARY KEY (answer_id, space_id, page_id)
);
