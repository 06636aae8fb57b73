-- Spaces, pages, and sites that people marked as favorites, each person's in their order.
CREATE TABLE favorites (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  space_id TEXT REFERENCES spaces (id) ON DELETE CASCADE,  -- NULL for a site
  page_id TEXT NOT NULL DEFAULT '',                        -- empty for a space or site
  site_id TEXT REFERENCES sites (id) ON DELETE CASCADE,    -- NULL for a space or page
  position INTEGER NOT NULL,
  added_at BIGINT NOT NULL,
  UNIQUE (user_id, space_id, page_id),
  UNIQUE (user_id, site_id)
);
CREATE INDEX favorites_by_space ON favorites (space_id);
CREATE INDEX favorites_by_site ON favorites (site_id);
