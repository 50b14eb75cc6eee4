import { JobFailed } from "sunzi";
import { file, folder, kept, save } from "sunzi/node";

// The login of SUNZI_SERVER and SUNZI_TOKEN, or the one that sunzi remote login kept.
const client = await kept({ patience: 60 });
await client.putKeys("visits-keys", await folder("keys/eval"));
await client.putProgram("statistics", "mean(cost); corr(age, cost)");
await client.putTable("visits", await file("visits.sz"));

const job = await client.run("statistics", "visits", { keys: "visits-keys" });
try {
  const status = await job.wait({ timeout: 600 });
  console.log(`a result of ${status.nbytes} bytes`);
  await save(job, "results.sz");
} catch (error) {
  if (error instanceof JobFailed) console.error(error.message);
  throw error;
}
await job.delete();
