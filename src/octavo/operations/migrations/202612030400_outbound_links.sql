-- Links to other sites, and the state of their checks. url_key: SHA-256 of the URL, because URLs can be longer than an
-- index allows. failures: number of failed checks in a row. next_at: time of the next check.
CREATE TABLE outbound_links (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  url_key TEXT NOT NULL,
  url TEXT NOT NULL,
  host TEXT NOT NULL,
  status TEXT NOT NULL,                  -- pending, healthy, suspect, failed, recovering, canceled
  failures INTEGER NOT NULL DEFAULT 0,
  failure_kind TEXT,                     -- client-error, server-error, redirect, dns, tls, connection, timeout
  http_status INTEGER,
  checked_at BIGINT,
  next_at BIGINT NOT NULL,
  PRIMARY KEY (space_id, url_key)
);
CREATE INDEX outbound_links_by_time ON outbound_links (next_at);
CREATE INDEX outbound_links_by_status ON outbound_links (status, checked_at);

-- URL of the external link that a finding is about.
ALTER TABLE site_findings ADD COLUMN url TEXT;
