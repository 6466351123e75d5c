// A terminal recording as an animated SVG: commands typed into a real shell in tmux, drawn as text.
//
// Start with `recorded`. A line that stays the same through several frames is drawn once, so the file is small. A viewer
// that animates nothing shows the last frame.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { PROGRAM } from "./machine.mjs";

const COLUMNS = 92;
const ROWS = 24;
const [CHARACTER, LINE, MARGIN, TOP] = [8.43, 19, 14, 40];
const SHADES = ["#5a5f6b", "#e06c75", "#7fb069", "#e5c07b", "#6fa8dc", "#c397d8", "#70c0b1", "#d7dae0"];
const TEXT = "#d7dae0";

const sleep = (time) => new Promise((done) => setTimeout(done, time));
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// Parts of a line of `tmux capture-pane -e` that look the same.
function parts(line) {
  const found = [];
  let look = { color: undefined, bold: false, dim: false };
  for (const [, codes, text] of `\u001b[m${line}`.matchAll(/\u001b\[([\d;]*)m([^\u001b]*)/g)) {
    const numbers = codes.split(";").map(Number);
    while (numbers.length > 0) {
      const code = numbers.shift();
      if (code === 0) look = { color: undefined, bold: false, dim: false };
      else if (code === 1) look = { ...look, bold: true };
      else if (code === 2) look = { ...look, dim: true };
      else if (code === 22) look = { ...look, bold: false, dim: false };
      else if (code === 39) look = { ...look, color: undefined };
      else if (code >= 30 && code <= 37) look = { ...look, color: SHADES[code - 30] };
      else if (code >= 90 && code <= 97) look = { ...look, color: SHADES[code - 90] };
      else if (code === 38 || code === 48) numbers.splice(0, numbers[0] === 5 ? 2 : 4);
    }
    if (text) found.push({ ...look, text });
  }
  return found;
}

const drawn = (line) => parts(line).map(({ color, bold, dim, text }) => {
  const style = `${color ? ` fill="${color}"` : ""}${bold ? ' font-weight="bold"' : ""}${dim ? ' fill-opacity=".7"' : ""}`;
  return style ? `<tspan${style}>${escaped(text)}</tspan>` : escaped(text);
}).join("");

// Returns the picture of frames, each with its duration in seconds.
function picture(frames, label) {
  const length = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  const rows = Math.max(...frames.map(({ lines }) => lines.length));
  const [width, height] = [Math.round(COLUMNS * CHARACTER + 2 * MARGIN), TOP + rows * LINE + 4];
  const texts = [];
  for (let row = 0; row < rows; row++) {
    let from = 0;
    let at = 0;
    for (const [number, { lines, seconds }] of frames.entries()) {
      const line = lines[row] ?? "";
      const end = at + seconds;
      const isLast = number === frames.length - 1;
      if (isLast || (frames[number + 1].lines[row] ?? "") !== line) {
        if (line) texts.push({ row, line, from, end, isLast });
        from = end;
      }
      at = end;
    }
  }
  const share = (time) => (time / length).toFixed(4).replace(/\.?0+$/, "") || "0";
  const lines = texts.map(({ row, line, from, end, isLast }) => {
    const [values, times] = [[], []];
    if (from > 0) { values.push("hidden"); times.push("0"); }
    values.push("visible"); times.push(share(from));
    if (!isLast) { values.push("hidden"); times.push(share(end)); }
    const animation = from === 0 && isLast ? "" : `<animate attributeName="visibility" calcMode="discrete" dur="${length.toFixed(1)}s" repeatCount="indefinite" values="${values.join(";")}" keyTimes="${times.join(";")}"/>`;
    return `<text x="${MARGIN}" y="${TOP + (row + 0.7) * LINE}"${isLast ? "" : ' visibility="hidden"'}>${drawn(line)}${animation}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">
<rect width="${width}" height="${height}" rx="8" fill="#1b1d23"/>
<g fill="#5a5f6b"><circle cx="18" cy="16" r="5"/><circle cx="34" cy="16" r="5"/><circle cx="50" cy="16" r="5"/></g>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="${TEXT}" xml:space="preserve">
${lines.join("\n")}
</g>
</svg>
`;
}

// Types commands into a shell in the machine's project; returns the picture.
//
// A command is `{ line, seconds }`: what is typed, and how long its output is shown. `clear` empties the terminal before it.
export async function recorded(machine, commands, label) {
  const socket = `${machine.folder}/recording`;
  const tmux = (...args) => {
    const done = spawnSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8", cwd: machine.project,
      env: machine.environment({ TERM: "xterm-256color", PATH: `${dirname(PROGRAM)}:/usr/bin:/bin` }),
    });
    if (done.error || done.status !== 0) throw done.error ?? new Error(`tmux ${args[0]}: ${done.stderr}`);
    return done.stdout;
  };
  const frames = [];
  const frame = (seconds) => {
    const lines = tmux("capture-pane", "-p", "-e", "-t", "0").split("\n").map((line) => line.trimEnd());
    while (lines.length > 0 && lines.at(-1) === "") lines.pop();
    frames.push({ lines, seconds });
  };
  // Waits for a prompt at the start of the last line.
  const prompt = async () => {
    for (let tries = 0; tries < 300; tries++) {
      const text = tmux("capture-pane", "-p", "-t", "0").trimEnd();
      if (/(^|\n)\$$/.test(text)) return;
      await sleep(100);
    }
    throw new Error(`no prompt:\n${tmux("capture-pane", "-p", "-t", "0")}`);
  };
  // Root's bash takes no prompt from the environment.
  const rc = `${machine.folder}/recording.bash`;
  writeFileSync(rc, "PS1='\\[\\e[32m\\]$\\[\\e[0m\\] '\n");
  tmux("new-session", "-d", "-x", String(COLUMNS), "-y", String(ROWS), `bash --noprofile --rcfile '${rc}'`);
  try {
    await prompt();
    for (const { line, seconds, clear } of commands) {
      if (clear) {
        tmux("send-keys", "-t", "0", "C-l");
        await sleep(200);
        await prompt();
      }
      frame(0.6);
      for (const word of line.match(/\S+\s*/g)) {
        tmux("send-keys", "-t", "0", "-l", "--", word);
        await sleep(80);
        frame(0.16);
      }
      tmux("send-keys", "-t", "0", "Enter");
      await sleep(200);
      await prompt();
      frame(seconds);
    }
  } finally {
    tmux("kill-server");
  }
  return picture(frames, label);
}
