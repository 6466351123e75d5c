//! [`mode_that_asks`]: the session mode in which an agent asks before it changes anything.
//!
//! claude-agent-acp 0.101.0 begins a session in mode `auto`, and codex-acp 2.6.0 in one that may write: neither asks,
//! so a refusal in `session/request_permission` never happens. Confinement stops their writes; without it, the mode has
//! to. Pure.

use agent_client_protocol::v1::schema::SessionModeState;

/// Modes that ask before a change, or make none, the preferred first. Without case, `-` and `_`.
///
/// `default` is Claude Code's, Gemini CLI's and Qwen Code's, `readonly` is Codex's, `plan` is opencode's.
const ASKING: [&str; 8] = [
    "default",
    "readonly",
    "ask",
    "askalways",
    "manual",
    "untrusted",
    "suggest",
    "plan",
];

/// A decision about the mode of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModeChoice {
    /// The session is in a mode that asks.
    Asks,
    /// The mode to set.
    Set(String),
    /// No mode is known to ask; the names of those that there are.
    Unknown(Vec<String>),
}

/// Returns the mode to set so that an agent asks before it changes anything.
pub(super) fn mode_that_asks(modes: Option<&SessionModeState>) -> ModeChoice {
    let Some(modes) = modes else {
        return ModeChoice::Unknown(Vec::new());
    };
    let names: Vec<String> = modes
        .available_modes
        .iter()
        .map(|mode| mode.id.to_string())
        .collect();
    let find = |asking: &&str| names.iter().find(|name| plain(name) == **asking);
    match ASKING.iter().find_map(find) {
        Some(name) if name.as_str() == &*modes.current_mode_id.0 => ModeChoice::Asks,
        Some(name) => ModeChoice::Set(name.clone()),
        None => ModeChoice::Unknown(names),
    }
}

fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choice(current: &str, modes: &[&str]) -> ModeChoice {
        let modes: Vec<_> = modes
            .iter()
            .map(|id| json!({"id": id, "name": id}))
            .collect();
        let state = json!({"currentModeId": current, "availableModes": modes});
        mode_that_asks(Some(&serde_json::from_value(state).unwrap()))
    }

    /// LOA-SEC-1: of the modes that each agent offers, the one that asks is chosen, and no other.
    #[test]
    fn the_mode_that_asks_is_chosen_among_what_agents_offer() {
        let set = |name: &str| ModeChoice::Set(name.to_owned());
        let claude = [
            "auto",
            "default",
            "acceptEdits",
            "plan",
            "bypassPermissions",
        ];
        assert_eq!(choice("auto", &claude), set("default"));
        assert_eq!(choice("default", &claude), ModeChoice::Asks);
        let codex = ["read-only", "agent", "agent-full-access"];
        assert_eq!(choice("agent", &codex), set("read-only"));
        assert_eq!(choice("build", &["build", "plan"]), set("plan"));
        assert_eq!(
            choice("yolo", &["yolo", "fast"]),
            ModeChoice::Unknown(vec!["yolo".to_owned(), "fast".to_owned()])
        );
        assert_eq!(mode_that_asks(None), ModeChoice::Unknown(Vec::new()));
    }
}
