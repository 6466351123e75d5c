// A browser for tests: Chromium as it is installed, and tabs whose errors and requests are watched.
//
// Start with `open`. A tab that is closed by `Tab.close` fails its test if a script failed, the console showed an error, or
// anything was requested from another host than the page's.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// What the console of a tab shows while the daemon is away.
export const AWAY = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_NETWORK/;

let browser;

export async function launched() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Root has no sandbox of its own in a container.
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--force-prefers-reduced-motion"],
  });
  return browser;
}

export async function quit() {
  await browser?.close();
  browser = undefined;
}

export class Tab {
  constructor(context, page) {
    this.context = context;
    this.page = page;
    this.faults = [];
    this.dialogs = [];
    this.answer = true;
    const own = () => new URL(page.url() === "about:blank" ? "http://127.0.0.1" : page.url()).hostname;
    page.on("pageerror", (error) => this.faults.push(`script: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol === "data:" || protocol === "blob:") this.faults.push(`request: ${request.url().slice(0, 80)}`);
      else if (hostname !== own() && hostname !== "127.0.0.1") this.faults.push(`request: ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      this.dialogs.push(dialog.message());
      return this.answer ? dialog.accept() : dialog.dismiss();
    });
  }

  // Waits until the page has its live updates.
  async live() {
    await this.page.locator("#live[data-state=on]").waitFor({ timeout: 15_000 });
  }

  // Serious findings of axe-core in what is shown now.
  async findings() {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 5).map((node) => `${node.target}: ${node.any[0]?.message ?? node.html}`).join("; ")}`);
  }

  // Faults since the last call, without those that match.
  take(expected) {
    return this.faults.splice(0).filter((fault) => !expected?.test(fault));
  }

  async close(expected) {
    await this.context.close();
    assert.deepEqual(this.take(expected), [], "the tab had faults");
  }
}

// Opens an address in a browser of its own: no cookie or storage is shared.
export async function open(address, { dark = false, width = 1280, height = 900, scripts = true, context } = {}) {
  const own = context ?? await (await launched()).newContext({
    colorScheme: dark ? "dark" : "light", viewport: { width, height }, javaScriptEnabled: scripts, reducedMotion: "reduce",
    locale: "en-US", timezoneId: "Asia/Kathmandu", bypassCSP: false,
  });
  own.setDefaultTimeout(20_000);
  const page = await own.newPage();
  const tab = new Tab(own, page);
  if (address) await page.goto(address, { waitUntil: "load" });
  return tab;
}

// What sticks out of the window, unless a part scrolls by itself.
export const overflow = (page) => page.evaluate(() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const isClipped = (element) => {
    for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  const found = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > wide + 1 && !isClipped(element));
  return [`${document.documentElement.scrollWidth} of ${wide} px`, ...found.slice(0, 5).map((element) => element.outerHTML.slice(0, 160))];
});
