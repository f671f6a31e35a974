// What an agent written in TypeScript does: lists the tools, and makes the calls that it is given, in their order.
// The official SDK holds every answer against the tool's output schema; what it refuses is answered as "thrown".
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { modules, address, token, calls } = JSON.parse(process.argv[2]);
const load = (name) => import(pathToFileURL(createRequire(`${modules}/`).resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const client = new Client({ name: "typescript-test", version: "1" });
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
const { tools } = await client.listTools();
const answers = [];
for (const call of calls) {
  try {
    answers.push(await client.callTool(call));
  } catch (error) {
    answers.push({ thrown: String(error) });
  }
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
