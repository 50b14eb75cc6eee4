import { load, TableProgram, TableSchema } from "sunzi/local";

await load();
const csv = "age,cost\n34,120.5\n58,980\n41,75.25\n67,1310.75\n";
// Ranges are public, and promised: those of the cells would tell the least and the largest.
const schema = TableSchema.survey(csv, { ranges: { age: ["0", "120"], cost: ["0", "9999.99"] } });
const plan = new TableProgram("mean(cost); corr(age, cost)", schema).plan();
const keys = plan.keygen();

// A server takes the table and `keys.evaluation()`, and no secret key; here this process computes.
const table = keys.encrypt(plan, schema, csv);
const results = keys.compute(plan, table);

for (const { name, value } of keys.decrypt(plan, results)) {
  if (value.kind === "number") console.log(`${name} = ${value.value}`);
}
keys.free();
