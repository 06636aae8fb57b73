-- Where a proxy of the owner's shows a site: the host name as spelled for comparing, and the path from its slash on.
ALTER TABLE sites ADD COLUMN proxy_host TEXT;
ALTER TABLE sites ADD COLUMN proxy_path TEXT CHECK ((proxy_host IS NULL) = (proxy_path IS NULL));
-- only: sqlite
UPDATE sites SET proxy_host = lower(substr(json_extract(settings, '$.proxy'), 1, instr(json_extract(settings, '$.proxy'), '/') - 1)),
  proxy_path = substr(json_extract(settings, '$.proxy'), instr(json_extract(settings, '$.proxy'), '/')),
  settings = json_remove(settings, '$.proxy')
  WHERE json_extract(settings, '$.proxy') IS NOT NULL;
-- end
-- only: postgresql
UPDATE sites SET proxy_host = lower(split_part(settings::json ->> 'proxy', '/', 1)),
  proxy_path = substr(settings::json ->> 'proxy', strpos(settings::json ->> 'proxy', '/')),
  settings = (settings::jsonb - 'proxy')::text
  WHERE settings::json ->> 'proxy' IS NOT NULL;
-- end
-- Addresses had no effect, so that several sites could name one: the oldest site keeps it, and none is at a host name of
-- a site's own.
UPDATE sites SET proxy_host = NULL, proxy_path = NULL
  WHERE proxy_host IN (SELECT hostname FROM sites WHERE hostname IS NOT NULL)
    OR EXISTS (SELECT 1 FROM sites o WHERE o.proxy_host = sites.proxy_host AND o.proxy_path = sites.proxy_path AND o.id < sites.id);
CREATE UNIQUE INDEX sites_by_proxy ON sites (proxy_host, proxy_path) WHERE proxy_host IS NOT NULL;
