import { Client } from "sunzi";

export async function compute(server: string, token: string, table: Blob, signal: AbortSignal): Promise<Uint8Array> {
  const client = new Client({ server, token });
  await client.putTable("visits", table, { signal, onProgress: (sent, total) => console.log(sent / total) });
  const job = await client.run("statistics", "visits", { keys: "visits-keys", signal });
  return job.result({ signal });
}
