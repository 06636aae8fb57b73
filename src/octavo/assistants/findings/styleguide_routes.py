"""Operations on style guides for sites, and checks of spaces against them."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import UNSET

from octavo.content.changes.wire import present_changes
from octavo.core.checks.style import StyledText
from octavo.core.pages import slugify
from octavo.errors import TooLarge
from octavo.interchange.gitsync.store import list_synced_sites
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call, Stream
from octavo.organization.access.authorization import (
    OrgAccess,
    SiteAccess,
    find_site_access,
    find_space_access,
    space_access,
)
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import present_people
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import get_space
from octavo.organization.spaces.wire import Space, present_space
from octavo.sites.site.store import get_site
from octavo.sites.site.wire import present_site

from . import styleguide_store as store
from . import styleguide_wire as wire
from .styleguide_files import export_rules, import_rules, unpack
from .styleguides import create_styleguide, list_packages, require_styleguide, run_styleguide
from .text_checks import check_texts

operation = Area("sites").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"


@operation("listStyleguideTemplates", "GET", "/orgs/{organizationId}/styleguide-templates", needs=Can.VIEW)
def list_templates(call: Call, org: OrgAccess) -> wire.StyleguideTemplates:
    """List the rule packages from which you can create a style guide."""
    return wire.StyleguideTemplates([wire.present_template(package) for package in list_packages().values()])


@operation("listOrganizationStyleguides", "GET", "/orgs/{organizationId}/styleguides", needs=Can.VIEW)
def list_styleguides(call: Call, org: OrgAccess) -> wire.OrganizationStyleguides:
    """List the organization's style guides that you can see, each with the sites that use it."""
    found: list[wire.OrganizationStyleguide] = []
    with call.db.read() as tx:
        row = get_organization(tx, org.organization_id)
        for space_id, site_ids in store.list_styleguides(tx, org.organization_id):
            access = find_space_access(tx, org.actor, Can.VIEW, space_id)
            if access is None:
                continue
            syncs = list_synced_sites(tx, site_ids)
            sites = [
                present_site(call, row, get_site(tx, site_id), site.role, syncs.get(site_id))
                for site_id in site_ids
                if (site := find_site_access(tx, org.actor, Can.VIEW, org.organization_id, site_id))
                is not None
            ]
            space = present_space(call, tx, get_space(tx, space_id), access.role)
            found.append(wire.OrganizationStyleguide(space, sites))
    return wire.OrganizationStyleguides(found)


@operation("createSiteStyleguideById", "POST", f"{_SITE}/styleguide", needs=Can.ADMIN, errors=(404,))
def create(call: Call, site: SiteAccess, body: wire.CreateStyleguide | None = None) -> Space:
    """Create a site's style guide, which is a space whose pages are writing rules. If the site already has a style
    guide, returns the existing one. `template`: the rule package to start from."""
    space_id = create_styleguide(call.context, site, body.template if body is not None else None)
    with call.db.read() as tx:
        access = space_access(tx, site.actor, Can.VIEW, space_id)
        return present_space(call, tx, get_space(tx, space_id), access.role)


@operation(
    "checkSiteTexts",
    "POST",
    f"{_SITE}/styleguide/checks",
    needs=Can.VIEW,
    errors=(400, 404, 413),
    in_maintenance=True,
)
def check(
    call: Call, site: SiteAccess, query: wire.TextCheckQuery, body: wire.CheckSiteTexts
) -> wire.TextFindings:
    """Check unsaved text against a site's style guide, and for placeholders. Nothing is stored. With `wholePage`,
    only rules that compare different parts of a page apply, such as a rule against two spellings of the same word;
    otherwise, only the other rules apply. Rules whose findings on the `page` were dismissed don't apply."""
    if sum(len(each.text) for each in body.texts) > wire.MAX_CHARACTERS:
        raise TooLarge(f"texts: must have at most {wire.MAX_CHARACTERS:,} characters in total")
    texts = [StyledText(each.text, each.text, each.heading) for each in body.texts]
    with call.db.read() as tx:
        found = check_texts(tx, site, texts, query.page, whole_page=body.whole_page)
    findings = [wire.present_text_finding(each, texts[each.text].text) for each in found.faults]
    return wire.TextFindings(findings, found.compares)


@operation(
    "createSiteStyleguideRun",
    "POST",
    f"{_SITE}/styleguide/runs",
    needs=Can.VIEW,
    status=201,
    errors=(400, 404),
)
def create_run(call: Call, site: SiteAccess, body: wire.CreateStyleguideRun) -> wire.StartedStyleguideRun:
    """Check up to three spaces of a site against its style guide. For each space with findings that can be fixed, a
    draft change request is created, unless there is already one from an earlier check. Requires the editor role in
    these spaces."""
    run, changes = run_styleguide(call.context, site, body.spaces)
    with call.db.read() as tx:
        people = present_people(call, tx, [run.created_by])
        return wire.StartedStyleguideRun(wire.present_run(run, people), present_changes(call, tx, changes))


@operation("listSiteStyleguideRuns", "GET", f"{_SITE}/styleguide/runs", needs=Can.VIEW)
def list_runs(call: Call, site: SiteAccess, query: PageQuery) -> Listing[wire.SiteStyleguideRun]:
    """List the checks of spaces against a site's style guide, newest first."""
    with call.db.read() as tx:
        found = store.list_runs(tx, site.site_id, query.limit, query.page)
        people = present_people(call, tx, [row.created_by for row in found.rows])
    return present_slice(found, lambda row: wire.present_run(row, people))


@operation(
    "importSiteStyleguideRules",
    "POST",
    f"{_SITE}/styleguide/import",
    needs=Can.VIEW,
    errors=(400, 403, 404),
)
def import_files(call: Call, site: SiteAccess, body: wire.ImportStyleRules) -> wire.ImportedStyleRules:
    """Import rules in Vale's format into a site's style guide. A rule with the same name as an existing rule
    replaces that rule. The response contains the result for each file, including keys that have no effect. Requires
    the editor role in the style guide."""
    files, skipped = (body.files, []) if body.files is not UNSET else unpack(body.archive)  # type: ignore[arg-type]
    return wire.ImportedStyleRules([*import_rules(call.context, site, files), *skipped])


@operation(
    "exportSiteStyleguideRules",
    "GET",
    f"{_SITE}/styleguide/export",
    needs=Can.VIEW,
    returns=bytes,
    errors=(404,),
    media_type="application/zip",
)
def export_files(call: Call, site: SiteAccess) -> Stream:
    """Download the rules of a site's style guide as a .zip file for Vale."""
    with call.db.read() as tx:
        space = require_styleguide(tx, site)
        packed = export_rules(tx, space_access(tx, site.actor, Can.VIEW, space.id), space.title)
    name = f"attachment; filename*=UTF-8''{quote(slugify(space.title[:60]))}.zip"
    return Stream(
        iter([packed]), "application/zip", {"content-disposition": name, "cache-control": "no-store"}
    )
