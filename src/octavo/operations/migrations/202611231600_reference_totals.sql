-- Numbers of references and targets of a space, stored with the rows, so that lists of links need not count them.

-- Targets of references in main of a space. Properties that don't affect how a reference is shown are empty.
CREATE TABLE reference_targets (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  generation BIGINT NOT NULL,
  target_key TEXT NOT NULL,
  status TEXT NOT NULL,
  target_space TEXT NOT NULL,            -- a space other than this one
  kind TEXT NOT NULL,                    -- user, collection, openapi
  target TEXT NOT NULL,                  -- id or slug, only for these kinds
  refs BIGINT NOT NULL,                  -- number of references
  PRIMARY KEY (space_id, generation, target_key, status, target_space, kind, target)
);

-- Sums for all references that look the same to everyone.
CREATE TABLE reference_totals (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  generation BIGINT NOT NULL,
  status TEXT NOT NULL,
  target_space TEXT NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  refs BIGINT NOT NULL,
  items BIGINT NOT NULL,                 -- items of a list, each with at most 100 places
  PRIMARY KEY (space_id, generation, status, target_space, kind, target)
);

-- Current generation of these rows, and the key up to which it has been counted; NULL: completely. Without a row, it is
-- 0.
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

-- Links with one status, in display order.
CREATE INDEX content_references_by_status ON content_references (space_id, status, target_key, owner_id, place);
