-- Location at which a proxy of the owner shows a site: the normalized host name, and the path from its slash on.
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
-- Proxy URLs had no effect until now, so several sites may have the same one: the oldest site keeps it, unless it is at
-- the host name of a site.
UPDATE sites SET proxy_host = NULL, proxy_path = NULL
  WHERE proxy_host IN (SELECT hostname FROM sites WHERE hostname IS NOT NULL)
    OR EXISTS (SELECT 1 FROM sites o WHERE o.proxy_host = sites.proxy_host AND o.proxy_path = sites.proxy_path AND o.id < sites.id);
CREATE UNIQUE INDEX sites_by_proxy ON sites (proxy_host, proxy_path) WHERE proxy_host IS NOT NULL;
