//! [`OpenTools`]: since when a client waits for its tools, by what it tells of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use callosum_host::process::Heartbeat;

/// Times at which the open uses were first reported.
#[derive(Debug, Default)]
pub(crate) struct OpenTools {
    heard: BTreeMap<String, Instant>,
    /// The heartbeat that receives it, if there is one.
    pulse: Option<Heartbeat>,
}

impl OpenTools {
    /// Creates one that reports to the heartbeat that decides about the client's silence.
    pub(crate) fn reporting_to(pulse: &Heartbeat) -> Self {
        Self {
            pulse: Some(pulse.clone()),
            ..Self::default()
        }
    }

    /// Records the uses that are open now.
    pub(crate) fn hear(&mut self, open: &BTreeSet<String>) {
        self.note(open, Instant::now());
        if let Some(pulse) = &self.pulse {
            pulse.waits_since(self.since());
        }
    }

    fn note(&mut self, open: &BTreeSet<String>, now: Instant) {
        self.heard.retain(|id, _| open.contains(id));
        for id in open {
            if !self.heard.contains_key(id) {
                self.heard.insert(id.clone(), now);
            }
        }
    }

    /// Since when the oldest one is open.
    fn since(&self) -> Option<Instant> {
        self.heard.values().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::output_format::{Dialect, stream_state::StreamState};

    /// CAL-ERR-2: of several tools the one counts that was begun first, until its own end.
    #[test]
    fn the_oldest_use_that_is_open_counts() {
        let open = |ids: &[&str]| ids.iter().map(ToString::to_string).collect();
        let begun = Instant::now();
        let later = begun + Duration::from_secs(9);
        let mut waiting = OpenTools::default();
        waiting.note(&open(&["a"]), begun);
        waiting.note(&open(&["a", "b"]), later);
        assert_eq!(waiting.since(), Some(begun));
        waiting.note(&open(&["b"]), later);
        assert_eq!(waiting.since(), Some(later));
        waiting.note(&open(&[]), later);
        assert_eq!(waiting.since(), None);
    }

    /// CAL-ERR-2: each client tells in its own way that it waits for a tool, and that it does no longer.
    #[test]
    fn each_client_tells_of_its_tools() {
        let uses = |id: &str| json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": "Bash"}]}});
        let used = |id: &str| json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]}});
        let command = |event: &str| json!({"type": event, "item": {"id": "i", "type": "command_execution", "command": "x"}});
        for (dialect, begins, ends) in [
            (Dialect::Claude, uses("t"), used("t")),
            (Dialect::Qwen, uses("t"), used("t")),
            (
                Dialect::Codex,
                command("item.started"),
                command("item.completed"),
            ),
            (
                Dialect::Gemini,
                json!({"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t"}),
                json!({"type": "tool_result", "tool_id": "t", "output": "x"}),
            ),
            (
                Dialect::Opencode,
                json!({"type": "step_start"}),
                json!({"type": "step_finish", "part": {"reason": "stop"}}),
            ),
        ] {
            let mut hearing = StreamState::default();
            let mut open = |event: &Value| {
                hearing.take(dialect, event);
                !hearing.tools.open().is_empty()
            };
            assert!(open(&begins), "{dialect:?}");
            assert!(!open(&ends), "{dialect:?}");
        }
    }
}
