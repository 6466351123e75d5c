// Faults: a full disk, a project folder that is gone, and a daemon that is away.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";

import { AWAY, open } from "./chromium.mjs";
import { Machine } from "./machine.mjs";

function small(name) {
  const machine = new Machine(name);
  machine.write("README.md", "# Small\n");
  machine.git("init", "--quiet");
  return machine;
}

// Fills the room that is left, to the last byte.
function fill(file) {
  let chunk = 1 << 20;
  let content = Buffer.alloc(0);
  while (chunk > 0) {
    try {
      writeFileSync(file, content = Buffer.concat([content, Buffer.alloc(chunk)]));
    } catch {
      content = content.subarray(0, content.length - chunk);
      chunk >>= 1;
    }
  }
  writeFileSync(file, content);
}

const isRoot = process.getuid?.() === 0 && process.platform === "linux";

describe("faults", () => {
  test("on a full disk a write fails with the reason, and reading works", { skip: !isRoot && "mounting needs root" }, async () => {
    const machine = small("full");
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", machine.state], { encoding: "utf8" });
    assert.equal(mounted.status, 0, mounted.stderr);
    try {
      machine.run(["init", "--ledger", "--yes"]);
      machine.run(["mesh", "task", "add", "Written while there was room", "--as", "claude"]);
      machine.serve();
      const tab = await open(machine.view("tasks"));
      await tab.page.locator("#view").getByText("Written while there was room").first().waitFor();
      const filler = join(machine.state, "filler");
      fill(filler);
      const add = (prompt) => tab.page.evaluate(async (prompt) => {
        const body = new URLSearchParams({ token: document.body.dataset.token, prompt });
        const answer = await fetch(`${location.pathname}/add`, { method: "POST", body, headers: { accept: "application/json" } });
        return { status: answer.status, ...(await answer.json()) };
      }, prompt);
      const failed = await add("x".repeat(8000));
      assert.equal(failed.is_done, false, JSON.stringify(failed));
      assert.match(failed.message, /space|full/i);
      await tab.page.reload();
      await tab.page.locator("#view").getByText("Written while there was room").first().waitFor();
      rmSync(filler);
      assert.equal((await add("Written when there was room again")).is_done, true);
      await tab.close(/409/);
    } finally {
      machine.stop();
      spawnSync("umount", ["--lazy", machine.state]);
      machine.remove();
    }
  });

  test("a project whose folder is gone is named, and the others stay", async () => {
    const machine = small("gone");
    try {
      machine.run(["init", "--ledger", "--yes"]);
      machine.serve();
      const tab = await open(machine.view("tasks"));
      await tab.live();
      rmSync(machine.project, { recursive: true });
      const answer = await fetch(machine.view("tasks"));
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /not known on this machine any more/);
      assert.equal((await fetch(`${machine.origin}/`)).status, 200);
      // The page that is open says so, and goes on.
      await tab.page.evaluate(() => import("/assets/live.js").catch(() => {}));
      assert.equal((await fetch(`${machine.origin}/health`)).status, 200);
      await tab.close(/404/);
    } finally {
      machine.remove();
    }
  });

  test("a form says so when the daemon is away, and keeps what was typed", async () => {
    const machine = small("away");
    try {
      machine.run(["init", "--ledger", "--yes"]);
      machine.serve();
      const tab = await open(machine.view("tasks"));
      const { page } = tab;
      const form = page.locator("#view form[action$='/tasks/add']").first();
      const folded = page.locator("#view details:not([open]):has(form[action$='/tasks/add']) > summary").first();
      if (await folded.count() > 0) await folded.click();
      await form.locator("[name=prompt]").fill("Typed before the daemon went away");
      machine.stop();
      await form.locator("button").first().click();
      await page.locator("#notices .notice.failed").waitFor();
      assert.match(await page.locator("#notices").innerText(), /does not answer/);
      assert.equal(await form.locator("[name=prompt]").inputValue(), "Typed before the daemon went away");
      machine.serve();
      await form.locator("button").first().click();
      await page.locator("#notices .notice.done").waitFor();
      assert.equal(machine.json(["mesh", "task", "list"]).tasks.length, 1);
      await tab.close(AWAY);
    } finally {
      machine.remove();
    }
  });
});
