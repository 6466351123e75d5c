// Pages of other origins, other names and other users of the browser: they read nothing and write nothing (CALC-SEC-1).

import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";

import { launched, open } from "./chromium.mjs";
import { demo } from "./demo_machine.mjs";
import { raw } from "./machine.mjs";

const PROMPT = "planted by a stranger";

describe("strangers", () => {
  let machine, server, origin;

  // Another port is another origin, on the same site. Another name is another site.
  before(async () => {
    machine = demo();
    server = http.createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><body>stranger"));
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    origin = `http://127.0.0.1:${server.address().port}`;
  });
  after(() => server.close());

  const isUntouched = () => assert.ok(!machine.run(["mesh", "task", "list", "--json"]).includes(PROMPT), "a task was written");

  // A tab of the other origin. Refusals show up in its console, which is none of the page's.
  async function stranger(work) {
    for (const host of [origin, origin.replace("127.0.0.1", "localhost")]) {
      const tab = await open(`${host}/`);
      try {
        await work(tab.page, host);
      } finally {
        await tab.context.close();
      }
      isUntouched();
    }
  }

  test("another origin cannot read a view, an asset or the stream", async () => {
    await stranger(async (page) => {
      for (const path of ["", ".json", "/../live"]) {
        const url = machine.view("tasks") + path;
        const read = await page.evaluate((url) => fetch(url).then((answer) => answer.text(), () => null), url);
        assert.equal(read, null, url);
        const opaque = await page.evaluate((url) => fetch(url, { mode: "no-cors" }).then((a) => a.type, () => "failed"), url);
        assert.ok(["opaque", "failed"].includes(opaque));
      }
      const isOpened = await page.evaluate((url) => new Promise((done) => {
        const source = new EventSource(url);
        source.onopen = () => done(true);
        source.onerror = () => done(false);
      }), `${machine.base}/live`);
      assert.equal(isOpened, false);
      const isRun = await page.evaluate((url) => new Promise((done) => {
        const script = document.createElement("script");
        script.type = "module";
        script.src = url;
        script.onload = () => done(true);
        script.onerror = () => done(false);
        document.head.append(script);
      }), `${machine.origin}/assets/page.js`);
      assert.equal(isRun, false);
    });
  });

  test("another origin cannot post, whatever the type of its body", async () => {
    const token = (await (await fetch(machine.view("tasks"))).text()).match(/data-token="([0-9a-f]+)"/)[1];
    const url = `${machine.base}/tasks/add`;
    // Even with the token, which it cannot read.
    const body = `token=${token}&prompt=${encodeURIComponent(PROMPT)}`;
    await stranger(async (page) => {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json"]) {
        for (const mode of ["no-cors", "cors"]) {
          await page.evaluate(([url, type, mode, body]) => fetch(url, { method: "POST", mode, body, headers: { "content-type": type } })
            .catch(() => {}), [url, type, mode, body]);
        }
      }
      for (const enctype of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
        const tab = await page.context().newPage();
        await tab.goto(page.url());
        const answer = tab.waitForResponse((response) => response.url() === url);
        await tab.evaluate(([url, enctype, token, prompt]) => {
          const form = document.createElement("form");
          Object.assign(form, { action: url, method: "post", enctype });
          for (const [name, value] of [["token", token], ["prompt", prompt]]) {
            const field = document.createElement("input");
            Object.assign(field, { name, value });
            form.append(field);
          }
          document.body.append(form);
          form.submit();
        }, [url, enctype, token, PROMPT]);
        assert.equal((await answer).status(), 403, enctype);
      }
    });
  });

  test("another origin cannot show the page in a frame", async () => {
    await stranger(async (page) => {
      await page.evaluate((url) => new Promise((done) => {
        const frame = document.createElement("iframe");
        frame.src = url;
        frame.onload = done;
        document.body.append(frame);
      }), machine.view("tasks"));
      const shown = await Promise.all(page.frames().slice(1).map((frame) => frame.evaluate(() => document.body?.textContent ?? "").catch(() => "")));
      assert.ok(!shown.join("").includes("Test the limit"), "a frame shows the page");
    });
  });

  test("another origin opens no WebSocket, at the page or at the bus", async () => {
    await stranger(async (page) => {
      for (const port of [machine.ports.page, machine.ports.bus, machine.ports.events]) {
        const state = await page.evaluate((url) => new Promise((done) => {
          const socket = new WebSocket(url);
          socket.onopen = () => done("open");
          socket.onclose = () => done("refused");
        }), `ws://127.0.0.1:${port}/`);
        assert.equal(state, "refused", `port ${port}`);
      }
    });
  });

  test("a link from another origin shows nothing that the origin can use", async () => {
    const tab = await open(`${origin}/`);
    const opened = await tab.page.evaluate((url) => {
      globalThis.other = open(url);
      return new Promise((done) => setTimeout(() => {
        try { done(String(globalThis.other?.document?.body?.textContent ?? "nothing")); } catch { done("nothing"); }
      }, 500));
    }, machine.view("tasks"));
    assert.ok(!opened.includes("Test the limit"));
    await tab.context.close();
  });

  test("a name that resolves to loopback gets no answer", async () => {
    const path = new URL(machine.view("tasks")).pathname;
    for (const host of ["evil.example", `evil.example:${machine.ports.page}`, "127.0.0.1.evil.example", "0.0.0.0", "", "127.0.0.1@evil.example"]) {
      const answer = await raw(machine.ports.page, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 4\d\d/, host);
      assert.ok(!answer.includes("Test the limit"), host);
    }
    const none = await raw(machine.ports.page, `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    assert.match(none, /^HTTP\/1\.1 4\d\d/);
    // What a browser sends after the name was rebound, by its own resolver.
    const { chromium } = await import("playwright-core");
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--host-resolver-rules=MAP rebound.example 127.0.0.1"],
    });
    const page = await (await browser.newContext()).newPage();
    const answer = await page.goto(`http://rebound.example:${machine.ports.page}${path}`);
    assert.equal(answer.status(), 403);
    assert.ok(!(await page.content()).includes("Test the limit"));
    await browser.close();
  });

  test("a form without the token, or with a wrong one, writes nothing", async () => {
    for (const token of ["", "0".repeat(64), "x"]) {
      const answer = await fetch(`${machine.base}/tasks/add`, {
        method: "POST", body: new URLSearchParams({ token, prompt: PROMPT }), headers: { origin: machine.origin },
      });
      assert.equal(answer.status, 403);
    }
    isUntouched();
  });

  test("the policy of the page runs no script of others", async () => {
    await launched();
    const answer = await fetch(machine.view("now"));
    const policy = answer.headers.get("content-security-policy");
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]) {
      assert.ok(policy.includes(part), policy);
    }
    assert.ok(!policy.includes("unsafe"));
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
  });
});
