// Reads all there is through the public API's own client and prints it as JSON.
import { GitBookAPI } from '@gitbook/api';

const client = new GitBookAPI({ endpoint: process.env.API_URL, authToken: process.env.API_TOKEN });

async function all(list) {
    const items = [];
    let page;
    do {
        const { data } = await list({ page, limit: 1 });
        items.push(...data.items);
        page = data.next?.page;
    } while (page);
    return items;
}

const pagesIn = (pages) => pages.flatMap((page) => [page, ...pagesIn(page.pages ?? [])]);

async function failure(call) {
    try {
        await call();
        return null;
    } catch (error) {
        return { name: error.name, code: error.code, message: error.errorMessage };
    }
}

const found = { user: (await client.user.getAuthenticatedUser()).data.displayName, organizations: [] };
for (const organization of await all((query) => client.orgs.listOrganizationsForAuthenticatedUser(query))) {
    const spaces = await all((query) => client.orgs.listSpacesInOrganizationById(organization.id, query));
    const collections = await all((query) => client.orgs.listCollectionsInOrganizationById(organization.id, query));
    found.organizations.push({
        title: organization.title,
        spaces: spaces.map((space) => space.title),
        collections: collections.map((collection) => collection.title),
    });
}

const space = (await client.spaces.getSpaceById(process.env.SPACE)).data;
const pages = pagesIn((await client.spaces.listPages(space.id)).data.pages);
const path = process.env.PAGE_PATH;
const byPath = (await client.spaces.getPageByPath(space.id, path, { format: 'markdown' })).data;
const byId = (await client.spaces.getPageById(space.id, byPath.id, { format: 'document' })).data;
const files = await all((query) => client.spaces.listFiles(space.id, query));
found.space = {
    title: space.title,
    pages: pages.map((page) => [page.type, page.path ?? null]),
    markdown: byPath.markdown,
    nodes: byId.document.nodes.map((node) => node.type),
    files: files.map((file) => file.name),
    image: (await (await fetch(files[0].downloadURL)).arrayBuffer()).byteLength,
};

const created = await client.orgs.createSpace(process.env.ORGANIZATION, { title: 'Made by the client' });
found.created = { status: created.status, location: created.headers.get('location') === created.data.urls.location };
found.failures = [
    await failure(() => client.spaces.getSpaceById('no-such-space')),
    await failure(() => client.orgs.createSpace(process.env.ORGANIZATION, { editMode: 'sideways' })),
    await failure(() => new GitBookAPI({ endpoint: process.env.API_URL }).user.getAuthenticatedUser()),
];

console.log(JSON.stringify(found));
