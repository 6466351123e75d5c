// Keys: a person reaches every view, list and item without a mouse.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { open } from "./chromium.mjs";
import { VIEWS, demo } from "./demo_machine.mjs";

describe("keys", () => {
  let machine;
  before(() => { machine = demo(); });

  test("g and a letter opens each view", async () => {
    const tab = await open(machine.view("health"));
    const { page } = tab;
    for (const { name, key, title } of VIEWS) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForURL(machine.view(name));
      assert.equal(await page.locator("[aria-current=page]").textContent(), title);
    }
    await tab.close();
  });

  test("? shows the keys, and Escape closes them", async () => {
    const tab = await open(machine.view("tasks"));
    const { page } = tab;
    await page.keyboard.press("?");
    assert.ok(await page.locator("dialog#help").isVisible());
    assert.deepEqual(await tab.findings(), []);
    for (const { title } of VIEWS) assert.ok((await page.locator("dialog#help").innerText()).includes(title));
    // Keys of the list wait until it is closed.
    await page.keyboard.press("j");
    assert.equal(await page.locator(".selected").count(), 0);
    await page.keyboard.press("Escape");
    assert.ok(!(await page.locator("dialog#help").isVisible()));
    await tab.close();
  });

  test("j and k walk through the items, and Enter opens one", async () => {
    const tab = await open(machine.view("ledger"));
    const { page } = tab;
    const selected = () => page.evaluate(() => [...document.querySelectorAll("#view [data-item]")]
      .filter((item) => item.offsetParent !== null).findIndex((item) => item.classList.contains("selected") && item === document.activeElement));
    await page.keyboard.press("j");
    assert.equal(await selected(), 0);
    await page.keyboard.press("j");
    assert.equal(await selected(), 1);
    await page.keyboard.press("k");
    assert.equal(await selected(), 0);
    await page.keyboard.press("k");
    assert.equal(await selected(), 0, "the first item is the end");
    await page.keyboard.press("Enter");
    await page.waitForURL(/[?]/);
    await tab.close();
  });

  test("/ filters the list, and the filter is in the address", async () => {
    const tab = await open(machine.view("health"));
    const { page } = tab;
    const all = await page.locator("#view [data-item]").count();
    const name = (await page.locator("#view [data-item] th").last().innerText()).trim();
    await page.keyboard.press("/");
    assert.ok(await page.evaluate(() => document.activeElement.matches("input[type=search]")));
    // Letters are text here, not keys.
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === name);
    const found = await page.locator("#view [data-item]").allInnerTexts();
    assert.ok(found.length > 0 && found.length < all, `${found.length} of ${all}`);
    await tab.close();
  });

  test("Tab reaches the skip link first, and it leads to the content", async () => {
    const tab = await open(machine.view("now"));
    const { page } = tab;
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await tab.close();
  });

  test("every control can be reached by Tab, and has a name", async () => {
    for (const { name } of VIEWS) {
      const tab = await open(machine.view(name));
      const { page } = tab;
      const controls = page.locator("#view :is(a[href], button, input:not([type=hidden]), select, textarea, summary)");
      const unreachable = await controls.evaluateAll((all) => all.filter((control) => control.tabIndex < 0).map((control) => control.outerHTML));
      assert.deepEqual(unreachable, [], name);
      await tab.close();
    }
  });
});
