-- What main of each space refers to, reference by reference, and what that means as main of all spaces is now.
CREATE TABLE content_references (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,                -- the page or reusable content that says it
  place INTEGER NOT NULL,                -- which of its references it is, from 0
  owner_kind TEXT NOT NULL,              -- page, reusable-content
  node TEXT,                             -- key of the block it stands in, as reading the text gives it
  type TEXT NOT NULL,                    -- of the node that makes it
  relation TEXT NOT NULL,                -- reference, dependsOn
  written TEXT NOT NULL,                 -- JSON: the reference as written
  kind TEXT NOT NULL,                    -- url, page, file, space, user, collection, reusable-content, openapi
  target_space TEXT,
  target TEXT,                           -- its id; for openapi its slug
  anchor TEXT,
  status TEXT NOT NULL,                  -- ok, broken, in-app; what depends on who asks is decided when it is asked
  target_key TEXT NOT NULL,              -- the same for all references to one thing
  asked TEXT NOT NULL,                   -- JSON: [space, question], all that its meaning was found by
  PRIMARY KEY (space_id, owner_id, place)
);
CREATE INDEX content_references_by_key ON content_references (space_id, target_key);
CREATE INDEX content_references_by_target ON content_references (target_space, target);

-- Who asked what of which space: a revision that changes the answer finds whom it concerns.
CREATE TABLE reference_questions (
  asked_in TEXT NOT NULL,
  question TEXT NOT NULL,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (asked_in, question, space_id, owner_id, place)
);
CREATE INDEX reference_questions_by_owner ON reference_questions (space_id, owner_id, place);

-- Documents are named by the hash of their text.
CREATE INDEX item_versions_by_content ON item_versions (content);
