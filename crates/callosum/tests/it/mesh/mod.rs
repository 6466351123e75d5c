//! `callosum mesh`: events, tasks, messages and discoveries over the files alone.

/// The bridge file.
mod bridge;
/// Files that two agents edit at the same time.
mod conflicts;
/// Dialogs that hooks report.
mod dialogs;
/// Files and commands of the user in a digest.
mod digest_sources;
/// Texts to agents, by their mailboxes and hooks.
#[cfg(target_os = "linux")]
mod inject;
/// Leases on files.
mod leases;
/// What one says to another.
mod messages;
/// Who speaks, and what is named.
mod names;
/// Output files of tasks.
mod outputs;
/// Agents in terminals; other systems do not list processes.
#[cfg(target_os = "linux")]
mod panes;
/// What each client has.
mod parity;
/// Events of any topic.
mod publishing;
/// Past turns in a digest.
mod related_turns;
/// Prompts and their categories.
mod routing;
/// Work that one agent leaves for another.
mod tasks;

use callosum_testkit::TestEnv;
use serde_json::Value;

fn json(env: &TestEnv, words: &[&str]) -> Value {
    let words = [&["mesh"], words, &["--json"]].concat();
    env.run(words).success().json()
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .expect("a JSON object a line")
}
