"""Test that the proxy URLs of sites from before these had a meaning become the URLs at which they are shown."""

from __future__ import annotations

from octavo.kit.db.databases import open_database
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.sites.site.store import list_all_sites

NUMBER = 202611231740
SITES = {
    "a": ("NULL", '{"proxy": "WWW.example.test/Docs/x", "adaptive": true}'),
    "b": ("NULL", '{"proxy": "www.example.test/Docs/x"}'),
    "c": ("NULL", '{"proxy": "docs.example.test/x"}'),
    "d": ("'docs.example.test'", "{}"),
}


def test_proxy_urls_are_kept(bare_url):
    everything = load_migrations("octavo.operations.migrations")
    database = open_database(bare_url)
    try:
        migrate(database, [migration for migration in everything if migration.number < NUMBER])
        with database.write() as tx:
            tx.run("INSERT INTO organizations (id, title, created_at) VALUES ('org', 'Home', 1)")
            for name, (hostname, settings) in SITES.items():
                tx.run(
                    f"""INSERT INTO sites (id, organization_id, type, title, basename, hostname, visibility, settings,
                          created_at, updated_at)
                        VALUES (:id, 'org', 'basic', :id, :id, {hostname}, 'public', :settings, 1, 1)""",
                    id=name,
                    settings=settings,
                )
        migrate(database, everything)
        with database.read() as tx:
            sites = {site.id: site for site in list_all_sites(tx)}
            texts = tx.value("SELECT count(*) FROM sites WHERE settings LIKE '%proxy%'")
    finally:
        database.close()
    assert {name: site.proxy for name, site in sites.items()} == {
        "a": "www.example.test/Docs/x",
        "b": None,
        "c": None,
        "d": None,
    }
    assert sites["a"].settings.adaptive and texts == 0
