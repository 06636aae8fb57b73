// Uses the server of tools at SERVER through the official TypeScript client, and prints what it was told as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const headers = process.env.TOKEN ? { authorization: `Bearer ${process.env.TOKEN}` } : {};
const client = new Client({ name: 'tests', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.SERVER), { requestInit: { headers } }));
const found = {
    server: client.getServerVersion().name,
    tools: (await client.listTools()).tools.map((tool) => tool.name),
    answers: [],
};
for (const [name, given] of JSON.parse(process.env.CALLS)) {
    const result = await client.callTool({ name, arguments: given });
    found.answers.push([result.isError ?? false, result.content[0].text]);
}
await client.close();
console.log(JSON.stringify(found));
