-- How many references a space has, and to how many things, kept with the rows: lists of links count nothing.

-- Each thing that main of a space refers to. What makes no difference to how a reference is seen is left empty.
CREATE TABLE reference_targets (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  generation BIGINT NOT NULL,
  target_key TEXT NOT NULL,
  status TEXT NOT NULL,
  target_space TEXT NOT NULL,            -- another space than this one
  kind TEXT NOT NULL,                    -- user, collection, openapi
  target TEXT NOT NULL,                  -- of these kinds
  refs BIGINT NOT NULL,                  -- how many references
  PRIMARY KEY (space_id, generation, target_key, status, target_space, kind, target)
);

-- The sums of these for all that is seen in one way.
CREATE TABLE reference_totals (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  generation BIGINT NOT NULL,
  status TEXT NOT NULL,
  target_space TEXT NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  refs BIGINT NOT NULL,
  items BIGINT NOT NULL,                 -- in a list, where an item has at most 100 places
  PRIMARY KEY (space_id, generation, status, target_space, kind, target)
);

-- Which generation of these rows counts, and up to which key it is made; NULL: all of it. Without a row here 0 counts.
CREATE TABLE reference_counting (
  space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
  generation BIGINT NOT NULL,
  counted_to TEXT
);

INSERT INTO reference_targets (space_id, generation, target_key, status, target_space, kind, target, refs)
  SELECT space_id, 0, target_key, status, elsewhere, person, named, count(*) FROM (
    SELECT r.space_id, r.target_key, r.status,
      CASE WHEN r.target_space <> r.space_id THEN r.target_space ELSE '' END AS elsewhere,
      CASE WHEN r.kind IN ('user', 'collection', 'openapi') THEN r.kind ELSE '' END AS person,
      CASE WHEN r.kind IN ('user', 'collection', 'openapi') THEN COALESCE(r.target, '') ELSE '' END AS named
    FROM content_references r WHERE r.version = COALESCE((SELECT dv.version FROM derived_versions dv
      WHERE dv.space_id = r.space_id AND dv.owner_id = r.owner_id), 0)) AS counted
  GROUP BY space_id, target_key, status, elsewhere, person, named;
INSERT INTO reference_totals (space_id, generation, status, target_space, kind, target, refs, items)
  SELECT space_id, 0, status, target_space, kind, target, sum(refs), sum((refs + 99) / 100) FROM reference_targets
  GROUP BY space_id, status, target_space, kind, target;

-- Links of one status, in the order in which they are listed.
CREATE INDEX content_references_by_status ON content_references (space_id, status, target_key, owner_id, place);
