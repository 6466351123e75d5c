// Runs all tests of the page in one process, so that they share a browser and the demo project; node prints the summary.
//
// `node run.mjs` runs all, `node run.mjs strangers layout` only those files. `CALLOSUM` names the program, `CHROMIUM` the
// browser, `PAGE_LOAD_SECONDS` how long the load test lasts, `PAGE_VIEWS` the views of `writes`.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { after } from "node:test";

import { quit } from "./chromium.mjs";
import { removeDemo } from "./demo_machine.mjs";

const FILES = ["views", "keys", "live", "writes", "layout", "strangers", "hostile", "faults", "load"];
const MARK = "CALLOSUM_PAGE_TESTS";

if (process.env[MARK] === undefined) {
  // Once more, with a readable summary also in a log.
  const files = process.argv.slice(2);
  const done = spawnSync(process.execPath, ["--test-reporter=spec", fileURLToPath(import.meta.url), ...files], {
    stdio: "inherit", env: { ...process.env, [MARK]: "1" },
  });
  process.exit(done.status ?? 1);
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !FILES.includes(name));
if (unknown.length > 0) throw new Error(`no such tests: ${unknown.join(", ")}; there are: ${FILES.join(", ")}`);
after(async () => {
  await quit();
  removeDemo();
});
process.on("exit", removeDemo);
for (const name of chosen.length > 0 ? chosen : FILES) await import(`./${name}.test.mjs`);
