//! Finds out which agent acts: by the environment that its client sets, or by the tool call ([`asking`]).

use callosum_config::Environment;
use callosum_mesh::Author;
use callosum_mesh::agent::AgentName;
use callosum_session::trajectory::Agent;

use crate::context::Context;

/// A client's mark in the environment of what it runs, its agent's name, and the variable with its
/// session, where there is one.
pub const MARKS: [(&str, &str, Option<&str>); 5] = [
    ("CLAUDECODE", "claude-code", Some("CLAUDE_CODE_SESSION_ID")),
    ("CODEX_THREAD_ID", "codex", Some("CODEX_THREAD_ID")),
    ("QWEN_CODE", "qwen-code", Some("QWEN_CODE_SESSION_ID")),
    ("GEMINI_CLI", "gemini-cli", None),
    ("OPENCODE", "opencode", None),
];

/// Author of commands that no client makes.
pub const PERSON: &str = "person";

/// Author of requests of a client that does not give its name.
const UNNAMED: &str = "unknown";

/// Returns the agent that runs this program, as its client's environment says.
pub fn agent_of(environment: &Environment) -> Option<&'static str> {
    let mut marks = MARKS.iter();
    let mark = marks.find(|(mark, _, _)| environment.get(mark).is_some());
    mark.map(|(_, name, _)| *name)
}

/// Returns the agent in whose environment this process runs, by the variables that clients set for what they start.
pub fn agent_in(environment: &Environment) -> Option<&'static str> {
    let mark = MARKS
        .iter()
        .find(|(mark, _, _)| environment.get(mark).is_some());
    mark.map(|(_, name, _)| *name)
}

/// Returns the author of a tool call of ours: the client, as it names itself.
pub fn asking(context: &Context) -> Author {
    let asker = context.asker();
    let named = Some(asker.agent.as_str()).filter(|_| asker.agent != Agent::default());
    let agent = named.and_then(|name| AgentName::of_speaker(name).ok());
    Author {
        agent: agent.unwrap_or_else(|| UNNAMED.parse().expect("it is a name")),
        session_id: asker.session,
        pane_id: None,
        cwd: Some(context.folder.to_string_lossy().into_owned()),
    }
}
