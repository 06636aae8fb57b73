-- Verified email domains of organizations, with the time and the method: the verified address of an administrator, a
-- DNS record, or the operator. Existing domains were specified by a person with an address in them.
CREATE TABLE proved_domains (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  domain TEXT NOT NULL,
  proof TEXT NOT NULL,
  proved_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, domain)
);
CREATE INDEX proved_domains_by_domain ON proved_domains (domain, organization_id);

-- only: sqlite
INSERT INTO proved_domains (organization_id, domain, proof, proved_at)
SELECT DISTINCT o.id, lower(d.value), 'address', o.created_at FROM organizations o, json_each(o.email_domains) d;
-- end
-- only: postgresql
INSERT INTO proved_domains (organization_id, domain, proof, proved_at)
SELECT DISTINCT o.id, lower(d.value), 'address', o.created_at
FROM organizations o, jsonb_array_elements_text(o.email_domains::jsonb) AS d(value);
-- end
