// Copies what the compiler leaves out of the page beside its scripts.
import { copyFileSync, mkdirSync } from "node:fs";

const target = new URL("../build/page/", import.meta.url);
mkdirSync(target, { recursive: true });
for (const name of ["index.html", "style.css", "icon.svg"]) copyFileSync(new URL(name, import.meta.url), new URL(name, target));
