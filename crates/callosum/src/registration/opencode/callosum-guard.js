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

export const CallosumGuard = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
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
