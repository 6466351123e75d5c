// A program that poses as a coding agent, started by `Agents`: shows the file `screen` of its folder whenever that changes,
// and runs the hooks that the folder `jobs` asks for.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, name, program] = process.argv.slice(2);
const jobs = join(folder, "jobs");
let shown;

setInterval(() => {
  if (!existsSync(jobs)) process.exit();
  const screen = readFileSync(join(folder, "screen"), "utf8");
  if (screen !== shown) {
    shown = screen;
    process.stdout.write(`\u001b[H\u001b[2J${screen}`);
  }
  for (const job of readdirSync(jobs).filter((file) => file.endsWith(".json"))) {
    const event = job.replace(/^\d+-|\.json$/g, "");
    const done = spawnSync(program, ["hook", name, event], { input: readFileSync(join(jobs, job)), encoding: "utf8" });
    const answer = join(jobs, job.replace(/json$/, "answer"));
    writeFileSync(`${answer}.new`, JSON.stringify({ stdout: done.stdout, stderr: done.stderr, status: done.status }));
    renameSync(join(jobs, job), `${answer}.asked`);
    renameSync(`${answer}.new`, answer);
  }
}, 20);
