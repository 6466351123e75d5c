//! Executors that are a few lines of Python.

/// What each begins with: it is in good health and says what it can; `answer` says something and ends, `parent` tells
/// whose child a process is.
const PRELUDE: &str = r#"
import json, os, pathlib, signal, subprocess, sys, time
def answer(summary, tokens=1):
    print(json.dumps({"summary": summary, "tokens_used": tokens, "status": "success"}))
    sys.exit()
def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
prompt = json.load(sys.stdin)["prompt"]
if prompt == "ping":
    answer("pong", 0)
if prompt == "capabilities":
    print(json.dumps({"capabilities": {"prompt_input": True, "json_output": True}}))
    sys.exit()
"#;

/// The script of an executor that does this once it is asked `prompt`.
pub(crate) fn script(deed: &str) -> String {
    format!("{PRELUDE}{deed}\n")
}
