// Call operations of the public client as they are asked for on standard input, one JSON object a line. The client's
// requests go to standard output, and their responses come back on standard input.
import { createInterface } from 'node:readline';
import { GitBookAPI } from '@gitbook/api';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => {
    const { value, done } = await lines.next();
    return done ? undefined : JSON.parse(value);
};
const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function send(url, { method = 'GET', headers, body } = {}) {
    write({ request: { url: String(url), method, headers: Object.fromEntries(new Headers(headers)), body } });
    const { status, headers: answered, content } = await read();
    const bytes = [204, 205].includes(status) ? null : Buffer.from(content, 'base64');
    return new Response(bytes, { status, headers: answered });
}

const client = new GitBookAPI({
    endpoint: 'http://localhost',
    authToken: process.env.API_TOKEN,
    serviceBinding: { fetch: send },
});
const operations = new Map(
    [client, ...Object.values(client)]
        .filter((group) => group && typeof group === 'object')
        .flatMap((group) => Object.entries(group))
        .filter(([, operation]) => typeof operation === 'function')
        // The client spells abbreviations in its own way.
        .map(([name, operation]) => [name.toLowerCase(), operation]),
);

// The arguments of an operation are path parameters by name, and then the query, the body, and the client's options.
const parametersOf = (operation) =>
    String(operation).match(/^(?:async )?\(([^)]*)\)/)[1].split(',').map((one) => one.trim().replace(/ = .*/s, ''));

for (let asked = await read(); asked; asked = await read()) {
    const operation = operations.get(asked.operation.toLowerCase());
    if (!operation) {
        write({ missing: true });
        continue;
    }
    const { path, query, body } = asked;
    const given = parametersOf(operation).map((name) =>
        name === 'params' ? { headers: asked.headers } : name === 'query' ? query : name === 'data' ? body : path[name]
    );
    try {
        await operation(...given);
        write({ status: 'done' });
    } catch (error) {
        write({ status: 'failed', error: `${error.name}: ${error.message}` });
    }
}
