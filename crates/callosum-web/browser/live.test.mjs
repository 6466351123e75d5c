// Live updates: what a command changes appears without a reload, through a restart of the daemon too.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { AWAY, open } from "./chromium.mjs";
import { demo } from "./demo_machine.mjs";

describe("live", () => {
  let machine;
  before(() => { machine = demo(); });

  const add = (text, ...more) => machine.run(["mesh", "task", "add", text, "--as", "claude", ...more]).trim();
  // Marks the document: a reload would lose the mark.
  const mark = (page) => page.evaluate(() => { globalThis.isSame = true; });
  const isSame = (page) => page.evaluate(() => globalThis.isSame === true);
  const shows = (page, text) => page.locator("#view").getByText(text).first().waitFor();

  test("a task that a command adds appears without a reload, in two tabs", async () => {
    const [one, two] = [await open(machine.view("tasks")), await open(machine.view("tasks"))];
    for (const tab of [one, two]) {
      await tab.live();
      await mark(tab.page);
    }
    add("Appears while the page is open", "--id", "live-1");
    for (const { page } of [one, two]) {
      await shows(page, "Appears while the page is open");
      assert.ok(await isSame(page));
    }
    machine.run(["mesh", "task", "cancel", "live-1", "--as", "claude"]);
    await one.close();
    await two.close();
  });

  for (const [view, text, change] of [
    ["now", "Waits on the first view", (text) => add(text, "--priority", "1", "--id", "live-now")],
    ["conversation", "A message while the page is open", (text) => machine.run(["mesh", "message", "send", "codex", text, "--as", "claude"])],
    ["memory", "Decided while the page is open", (text) => machine.run(["session", "decide", text, "--source", "user"])],
    ["guard", "git clean -fdx", (text) => machine.hook("claude", "PreToolUse", { tool_name: "Bash", tool_input: { command: text }, tool_use_id: "live" })],
    ["snapshots", "taken while the page is open", (text) => machine.run(["snapshot", "create", text])],
    ["ledger", "Asked while the page is open", (text) => machine.run(["delegate", "--kind", "api", text])],
    ["plans", "live-plan", () => machine.run(["plan", "run", "-e", "(defplan live-plan () (+ 1 2))"])],
    ["interventions", "no_module_of_the_page", (text) => machine.run(["watch", "--", "python3", "-c", `import ${text}`], { exit: null })],
  ]) {
    test(`${view} shows a change at once`, async () => {
      const tab = await open(machine.view(view));
      await tab.live();
      await mark(tab.page);
      change(text);
      await shows(tab.page, text);
      assert.ok(await isSame(tab.page));
      await tab.close();
    });
  }

  test("what a person opened and typed stays, through an update", async () => {
    const tab = await open(machine.view("tasks"));
    const { page } = tab;
    await tab.live();
    const field = page.locator("#view form[action$='/tasks/add'] :is(textarea, input[type=text], input:not([type]))").first();
    const folded = page.locator("#view details:not([open]):has(form[action$='/tasks/add']) > summary").first();
    if (await folded.count() > 0) await folded.click();
    await field.fill("half a thought");
    await field.focus();
    add("An update while a person types", "--id", "live-2");
    await shows(page, "An update while a person types");
    assert.equal(await field.inputValue(), "half a thought");
    assert.ok(await field.evaluate((field) => document.activeElement === field));
    await tab.close();
  });

  test("a page that is open connects again after a restart of the daemon, and shows everything once", async () => {
    const tab = await open(machine.view("tasks"));
    const { page } = tab;
    await tab.live();
    await mark(page);
    machine.stop();
    await page.locator("#live[data-state=lost]").waitFor();
    add("Added while the daemon was away", "--id", "live-3");
    machine.serve();
    await tab.live();
    await shows(page, "Added while the daemon was away");
    assert.ok(await isSame(page), "the page was loaded again");
    const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((element) => element.id));
    assert.deepEqual(ids.filter((id, at) => ids.indexOf(id) !== at), [], "an id occurs twice");
    assert.equal(await page.locator("#view [data-item]").filter({ hasText: "Added while the daemon was away" }).count(), 1);
    // The form that was open before the restart still counts.
    const token = await page.evaluate(() => document.body.dataset.token);
    assert.equal(token, await (await open(machine.view("tasks"), { context: tab.context })).page.evaluate(() => document.body.dataset.token));
    await tab.close(AWAY);
  });

  test("times are shown in the zone of the browser", async () => {
    const tab = await open(machine.view("now"));
    const time = tab.page.locator("#view time[datetime]").first();
    await tab.page.waitForFunction(() => document.querySelector("#view time[datetime]")?.title);
    const [title, at] = [await time.getAttribute("title"), await time.getAttribute("datetime")];
    const there = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium", timeZone: "Asia/Kathmandu" }).format(new Date(at));
    assert.equal(title, there);
    await tab.close();
  });
});
