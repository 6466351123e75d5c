// Written by `callosum init --guard`; `callosum uninstall` removes this file.
//
// Asks the guard before each call of a tool. The tool does not run if the guard denies it, cannot be started or takes
// too long. A plugin cannot have opencode ask a person, so what a person should decide is denied with a reason.
import { spawn } from "node:child_process"

const COMMAND = ["@COMMAND@"]

// The guard itself answers within four seconds.
const PATIENCE_MS = 8000

// Returns why the call must not run, or nothing if it may.
function ask(event, folder) {
  return new Promise((resolve) => {
    const failed = (why) => resolve(`callosum guard: ${why}, so the tool was not run. To go on without the guard: callosum uninstall`)
    let child
    try {
      child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: folder, stdio: ["pipe", "ignore", "pipe"] })
    } catch (error) {
      failed(`${COMMAND[0]} cannot be started: ${error.message}`)
      return
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      failed("it did not answer in time")
    }, PATIENCE_MS)
    let reason = ""
    child.stderr.on("data", (bytes) => {
      reason += bytes
    })
    child.on("error", (error) => {
      clearTimeout(timer)
      failed(`${COMMAND[0]} cannot be started: ${error.message}`)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 0) resolve(undefined)
      else if (code === 2 && reason.trim() !== "") resolve(reason.trim())
      else failed(`it ended with ${code}`)
    })
    // A guard that ends early closes its input.
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

// Arguments of calls that are running, by call. opencode names them before a tool only.
const running = new Map()
const MOST_RUNNING = 100

// The message about an error comes within this time, or not at all.
const MESSAGE_MS = 1000

// Returns what the model is sent about the errors in a command's output. A fault here never shows.
function message(event, folder) {
  return new Promise((resolve) => {
    let child
    try {
      const command = COMMAND.map((word) => (word === "pre-tool-use" ? "post-tool-use" : word))
      child = spawn(command[0], command.slice(1), { cwd: folder, stdio: ["pipe", "pipe", "ignore"] })
    } catch {
      resolve("")
      return
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      resolve("")
    }, MESSAGE_MS)
    let said = ""
    child.stdout.on("data", (bytes) => {
      said += bytes
    })
    child.on("error", () => {
      clearTimeout(timer)
      resolve("")
    })
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(said).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

export const CallosumGuard = async ({ directory }) => ({
  "tool.execute.after": async (input, output) => {
    const args = input.args ?? running.get(input.callID) ?? {}
    running.delete(input.callID)
    const printed = typeof output?.output === "string" ? output.output : ""
    const code = output?.metadata?.exit
    const failed = typeof code === "number" && code !== 0
    const event = {
      hook_event_name: failed ? "PostToolUseFailure" : "PostToolUse",
      session_id: input.sessionID,
      tool_use_id: input.callID,
      cwd: directory,
      tool_name: input.tool,
      tool_input: args,
    }
    if (failed) event.error = `Exit code ${code}\n${printed}`
    else event.tool_response = { stdout: printed, stderr: "", interrupted: false }
    const text = await message(event, directory)
    if (typeof text === "string" && text !== "") output.output = `${printed}\n\n${text}`
  },
  "tool.execute.before": async (input, output) => {
    if (running.size >= MOST_RUNNING) running.clear()
    running.set(input.callID, output.args ?? {})
    const reason = await ask(
      {
        hook_event_name: "tool.execute.before",
        session_id: input.sessionID,
        tool_use_id: input.callID,
        cwd: directory,
        tool_name: input.tool,
        tool_input: output.args ?? {},
      },
      directory,
    )
    if (reason !== undefined) throw new Error(reason)
  },
})
