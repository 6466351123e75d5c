//! [`Caller`]: the client and session of a request, from what each client reports of itself.
//!
//! Claude Code starts the server with its session in the environment, Codex names its thread with
//! each call; Gemini CLI and Qwen Code only give their names.

use callosum_executor::{client::Client, output_format::Dialect};
use callosum_session::trajectory::Agent;
use serde_json::{Map, Value};

use callosum_app::context::Requester;
use callosum_config::Environment;

/// Variable with the session of Claude Code.
const CLAUDE_SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// Key of Codex's session in a call's `_meta`.
const CODEX_SESSION: &str = "threadId";

/// Most characters of a session's name that are kept.
const LONGEST_SESSION: usize = 200;

/// Returns the caller. `name` is the client's name for itself, `meta` the metadata of a call.
pub(super) fn caller(
    name: Option<&str>,
    meta: &Map<String, Value>,
    environment: &Environment,
) -> Requester {
    let name = name.unwrap_or_default();
    let client = client(name);
    let session = match client.map(|client| client.program) {
        Some("claude") => environment
            .get(CLAUDE_SESSION)
            .map(|session| session.to_string_lossy().into_owned()),
        Some("codex") => meta
            .get(CODEX_SESSION)
            .and_then(Value::as_str)
            .map(str::to_owned),
        _ => None,
    };
    let agent = client.map_or(name, |client| client.program);
    Requester {
        // A name that no file may have is replaced by the default.
        agent: Agent::new(agent).unwrap_or_default(),
        session: session
            .map(|session| session.chars().take(LONGEST_SESSION).collect::<String>())
            .filter(|session| !session.is_empty()),
    }
}

/// The client of this name: each begins the name of what speaks for it with that of its program
/// (`claude-code`, `codex-mcp-client`, `gemini-cli-mcp-client`).
fn client(name: &str) -> Option<&'static Client> {
    let name = name.to_ascii_lowercase();
    Dialect::ALL
        .into_iter()
        .filter_map(Client::of)
        .find(|client| name.starts_with(client.program))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(name: &str, agent: &str, session: Option<&str>) {
        let environment = [(CLAUDE_SESSION, "from the environment")];
        let meta = json!({"threadId": "from the call"});
        let asker = caller(
            Some(name),
            meta.as_object().unwrap(),
            &environment.into_iter().collect(),
        );
        assert_eq!(asker.agent.as_str(), agent, "{name}");
        assert_eq!(asker.session.as_deref(), session, "{name}");
    }

    /// Each client is known by its own fields, and no client by those of another that started it.
    #[test]
    fn a_session_is_taken_from_the_fields_of_its_own_client() {
        check("claude-code", "claude", Some("from the environment"));
        check("codex-mcp-client", "codex", Some("from the call"));
        check("gemini-cli-mcp-client-callosum", "gemini", None);
        check("qwen-code-mcp-client", "qwen", None);
        check("some-editor", "some-editor", None);
        check("../elsewhere", "implementing-tasks", None);
        check("", "implementing-tasks", None);
    }

    #[test]
    fn a_session_has_a_bounded_name() {
        let environment: Environment = [(CLAUDE_SESSION, "é".repeat(1000))].into_iter().collect();
        let asker = caller(Some("claude-code"), &Map::new(), &environment);
        assert_eq!(asker.session.unwrap().chars().count(), LONGEST_SESSION);
    }
}
