//! [`Reply`]: the answer to a client, in the form that it obeys.
//!
//! Each form was tested with the real client: one that is ignored lets the tool run, and one that
//! waits for a person hangs if there is none. All four obey exit code 2 with the reason on standard
//! error. Two have a form of their own, which they show as a denial and not as a failed hook. If no
//! one can be asked, a question becomes a denial.

use callosum_executor::client::{Allowing, Asking, Denying, Hooks, Rewriting};
use callosum_redact::terminal_escape::untagged;
use serde_json::{Value, json};

/// The decision that is reported to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No objection. The client's own permissions decide.
    Pass,
    /// A person should be asked first.
    Ask(String),
    /// It must not run.
    Deny(String),
}

/// The event for which a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPoint {
    /// A tool is about to run.
    BeforeTool,
    /// The client is about to ask a person.
    Permission,
    /// The context is about to be cleared.
    Clear,
    /// Something that is only watched.
    Other,
}

/// The reason that a client is given for a command that runs without its own prompt.
const AUTO_ALLOWED: &str = "callosum guard auto-allow";

/// The output that a client reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text for standard output.
    pub stdout: String,
    /// The text for standard error.
    pub stderr: String,
    /// The exit code, in the client's meaning.
    pub exit: u8,
    /// Whether a person is asked because of it.
    pub is_question: bool,
}

impl HookPoint {
    /// The moment that an event's name means, whichever client's name it is, and however written:
    /// `PreToolUse`, `pre-tool-use`, `before_tool`.
    pub fn named(name: &str) -> Self {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        match word.as_str() {
            "pretooluse" | "beforetool" | "preskillshellcommand" => Self::BeforeTool,
            "permissionrequest" => Self::Permission,
            "preclear" => Self::Clear,
            // Which tools a model is offered.
            "beforetoolselection" => Self::Other,
            // What a later version of a client may call it: better asked once too often.
            word if word.contains("tool")
                && ["pre", "before"].iter().any(|one| word.contains(one)) =>
            {
                Self::BeforeTool
            }
            _ => Self::Other,
        }
    }

    /// Whether the client waits for what is decided.
    pub const fn decides(self) -> bool {
        !matches!(self, Self::Other)
    }
}

impl Reply {
    /// Returns the answer in the form that the client with these hooks obeys; `hooks` is `None` for
    /// an unknown client.
    ///
    /// `mode` is the permission mode that the client reports.
    pub fn of(
        hooks: Option<&Hooks>,
        moment: HookPoint,
        answer: &Answer,
        mode: Option<&str>,
    ) -> Self {
        let asks = hooks.is_some_and(|hooks| hooks.asking == Asking::ByAnswer);
        match (moment, answer) {
            (HookPoint::Other, _) => Self {
                stdout: hooks.map_or("", |hooks| hooks.silence).to_owned(),
                ..Self::default()
            },
            // The client is about to ask anyway.
            (_, Answer::Pass) | (HookPoint::Permission, Answer::Ask(_)) => Self::nothing(),
            (HookPoint::BeforeTool, Answer::Ask(reason)) if asks && is_asked(mode) => Self {
                is_question: true,
                ..Self::permission("ask", reason)
            },
            (HookPoint::BeforeTool, Answer::Deny(reason) | Answer::Ask(reason)) => {
                match hooks.map(|hooks| hooks.denying) {
                    Some(Denying::ByPermission) => Self::permission("deny", reason),
                    Some(Denying::ByDecision) => {
                        Self::from_json(&json!({"decision": "deny", "reason": reason}))
                    }
                    Some(Denying::ByExitCode) | None => Self::by_exit_code(reason),
                }
            }
            (HookPoint::Permission, Answer::Deny(reason)) if hooks.is_some() => {
                let decision = json!({"behavior": "deny", "message": reason});
                Self::from_json(&json!({"hookSpecificOutput": {
                    "hookEventName": "PermissionRequest", "decision": decision,
                }}))
            }
            (_, Answer::Ask(reason) | Answer::Deny(reason)) => Self::by_exit_code(reason),
        }
    }

    /// Whether it keeps the client from going on, or has a person asked whether it may.
    pub fn denies(&self) -> bool {
        if self.exit != 0 {
            return true;
        }
        let Ok(output) = serde_json::from_str::<Value>(&self.stdout) else {
            return false;
        };
        let orders = [
            output.pointer("/hookSpecificOutput/permissionDecision"),
            output.pointer("/hookSpecificOutput/decision/behavior"),
            output.get("decision"),
        ];
        let mut orders = orders.into_iter().flatten().filter_map(Value::as_str);
        orders.any(|order| matches!(order, "deny" | "ask" | "block"))
    }

    /// Returns a reply that does not object to a tool and shows a note to the person or the model,
    /// if the client passes it on.
    pub fn with_note(hooks: Option<&Hooks>, note: &str) -> Self {
        // Names of files are in it.
        let note = untagged(note);
        let mut output = serde_json::Map::new();
        if let Some(hooks) = hooks {
            if hooks.telling.person {
                output.insert("systemMessage".to_owned(), note.as_str().into());
            }
            if hooks.telling.model {
                let context =
                    json!({"hookEventName": hooks.before_tool, "additionalContext": note});
                output.insert("hookSpecificOutput".to_owned(), context);
            }
        }
        Self::from_json(&Value::Object(output))
    }

    /// Returns the answer by which a client runs `input` in place of what its model asked for, and tells the model `note`.
    /// `None` if it takes no other input. Where a person is asked, they are asked about the new command.
    pub fn rewriting(hooks: &Hooks, input: &Value, note: &str, mode: Option<&str>) -> Option<Self> {
        let note = untagged(note);
        let own = match hooks.rewriting {
            Rewriting::Never => return None,
            Rewriting::ByToolInput => {
                json!({"hookEventName": hooks.before_tool, "tool_input": input})
            }
            Rewriting::ByUpdatedInput => {
                let is_question = hooks.asking == Asking::ByAnswer && is_asked(mode);
                let decision = if is_question { "ask" } else { "allow" };
                json!({
                    "hookEventName": hooks.before_tool,
                    "permissionDecision": decision,
                    "permissionDecisionReason": note,
                    "updatedInput": input,
                    "additionalContext": note,
                })
            }
        };
        let mut output = json!({"hookSpecificOutput": own});
        if hooks.telling.person {
            output["systemMessage"] = note.into();
        }
        let is_question = output["hookSpecificOutput"]["permissionDecision"] == "ask";
        Some(Self {
            is_question,
            ..Self::from_json(&output)
        })
    }

    /// Returns the same reply, with permission to run the tool without the client's own prompt.
    /// `None` if the client prompts regardless of the answer at this event.
    pub fn allowing(&self, hooks: Option<&Hooks>, moment: HookPoint) -> Option<Self> {
        let hooks = hooks?;
        let mut output: Value = serde_json::from_str(&self.stdout).ok()?;
        let own = output
            .as_object_mut()?
            .entry("hookSpecificOutput")
            .or_insert_with(|| json!({}))
            .as_object_mut()?;
        match (moment, hooks.allowing) {
            (HookPoint::BeforeTool, Allowing::BeforeTool) => {
                own.insert("hookEventName".to_owned(), hooks.before_tool.into());
                own.insert("permissionDecision".to_owned(), "allow".into());
                own.insert("permissionDecisionReason".to_owned(), AUTO_ALLOWED.into());
            }
            (HookPoint::Permission, Allowing::BeforeTool | Allowing::AtPrompt(_)) => {
                own.insert("hookEventName".to_owned(), "PermissionRequest".into());
                own.insert("decision".to_owned(), json!({"behavior": "allow"}));
            }
            _ => return None,
        }
        Some(Self::from_json(&output))
    }

    /// Returns the same reply for a shell line of a skill, about which the client asks no one: it
    /// takes an answer under the event's own name.
    #[must_use]
    pub fn for_event(mut self, event: &str) -> Self {
        if let Ok(mut output) = serde_json::from_str::<Value>(&self.stdout)
            && let Some(name) = output.pointer_mut("/hookSpecificOutput/hookEventName")
        {
            *name = event.into();
            self.stdout = format!("{output}\n");
        }
        self
    }

    /// Says nothing against anything.
    fn nothing() -> Self {
        Self::from_json(&json!({}))
    }

    fn by_exit_code(reason: &str) -> Self {
        Self {
            stderr: format!("{reason}\n"),
            exit: 2,
            ..Self::default()
        }
    }

    fn permission(decision: &str, reason: &str) -> Self {
        Self::from_json(&json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }}))
    }

    fn from_json(value: &serde_json::Value) -> Self {
        Self {
            stdout: format!("{value}\n"),
            ..Self::default()
        }
    }
}

/// Whether a person can answer if the client asks, according to its mode. In modes in which the
/// client asks no one, a question becomes a denial.
fn is_asked(mode: Option<&str>) -> bool {
    !matches!(mode, Some("bypassPermissions" | "dontAsk" | "yolo"))
}

#[cfg(test)]
mod tests {
    use callosum_executor::{client::Client, output_format::Dialect};

    use super::*;

    fn hooks(dialect: Dialect) -> Hooks {
        Client::of(dialect).unwrap().hooks.unwrap()
    }

    const ALL: [Dialect; 4] = [
        Dialect::Claude,
        Dialect::Codex,
        Dialect::Gemini,
        Dialect::Qwen,
    ];

    fn deny() -> Answer {
        Answer::Deny("it is gone then".to_owned())
    }

    fn ask() -> Answer {
        Answer::Ask("look first".to_owned())
    }

    /// CAKE-ADP-1: a denial has the form that the client obeys.
    #[test]
    fn a_denial_is_what_each_client_obeys() {
        for dialect in ALL {
            let reply = Reply::of(
                Some(&hooks(dialect)),
                HookPoint::BeforeTool,
                &deny(),
                Some("default"),
            );
            let (stdout, stderr, exit) = match dialect {
                Dialect::Claude => {
                    let output = json!({"hookSpecificOutput": {
                        "hookEventName": "PreToolUse",
                        "permissionDecision": "deny",
                        "permissionDecisionReason": "it is gone then",
                    }});
                    (format!("{output}\n"), "", 0)
                }
                Dialect::Gemini => {
                    let output = json!({"decision": "deny", "reason": "it is gone then"});
                    (format!("{output}\n"), "", 0)
                }
                _ => (String::new(), "it is gone then\n", 2),
            };
            let expected = Reply {
                stdout,
                stderr: stderr.to_owned(),
                exit,
                is_question: false,
            };
            assert_eq!(reply, expected, "{dialect:?}");
        }
        // An unknown client; all known ones obey this.
        assert_eq!(
            Reply::of(None, HookPoint::BeforeTool, &deny(), None).exit,
            2
        );
    }

    /// CAKE-ADP-1: Codex runs a tool when the hook answers "ask", and Gemini without a terminal
    /// waits forever.
    #[test]
    fn only_claude_asks_and_only_if_a_person_is_there() {
        for dialect in ALL {
            for mode in [
                None,
                Some("default"),
                Some("acceptEdits"),
                Some("bypassPermissions"),
            ] {
                let hooks = hooks(dialect);
                let reply = Reply::of(Some(&hooks), HookPoint::BeforeTool, &ask(), mode);
                let asks = dialect == Dialect::Claude && mode != Some("bypassPermissions");
                assert_eq!(
                    reply.stdout.contains("\"ask\""),
                    asks,
                    "{dialect:?} {mode:?}"
                );
                let denies = reply.exit == 2 || reply.stdout.contains("\"deny\"");
                assert_eq!(denies, !asks, "{dialect:?} {mode:?}");
            }
        }
    }

    /// CAKE-ADP-1: a watching hook outputs nothing; if the client would read standard error then,
    /// an empty object.
    #[test]
    fn who_only_watches_is_silent() {
        for dialect in ALL {
            let reply = Reply::of(Some(&hooks(dialect)), HookPoint::Other, &deny(), None);
            let silence = if dialect == Dialect::Gemini {
                "{}\n"
            } else {
                ""
            };
            let expected = Reply {
                stdout: silence.to_owned(),
                ..Reply::default()
            };
            assert_eq!(reply, expected, "{dialect:?}");
        }
        assert_eq!(
            Reply::of(None, HookPoint::Other, &deny(), None),
            Reply::default()
        );
    }

    /// CAKE-ADP-1: `continue: false` lets the tool run in Claude Code, and an empty answer makes
    /// Gemini read standard error.
    #[test]
    fn who_says_nothing_says_it_in_a_form_that_no_client_misreads() {
        for dialect in ALL {
            for (moment, answer) in [
                (HookPoint::BeforeTool, Answer::Pass),
                (HookPoint::Permission, Answer::Pass),
                (HookPoint::Permission, ask()),
            ] {
                let reply = Reply::of(Some(&hooks(dialect)), moment, &answer, None);
                let expected = Reply {
                    stdout: "{}\n".to_owned(),
                    ..Reply::default()
                };
                assert_eq!(reply, expected, "{dialect:?} {moment:?}");
            }
        }
    }

    #[test]
    fn a_person_is_not_asked_for_what_is_denied_anyway() {
        let claude = hooks(Dialect::Claude);
        let reply = Reply::of(Some(&claude), HookPoint::Permission, &deny(), None);
        let output: serde_json::Value = serde_json::from_str(&reply.stdout).unwrap();
        let decision = &output["hookSpecificOutput"]["decision"];
        assert_eq!(decision["behavior"], "deny");
        assert_eq!(decision["message"], "it is gone then");
    }

    #[test]
    fn a_moment_is_known_by_any_clients_name_for_it() {
        let later = ["PreToolCall", "BeforeToolExecution", "pre_mcp_tool_use"];
        let known = ["PreToolUse", "pre-tool-use", "BeforeTool", "before_tool"];
        for name in known.into_iter().chain(later) {
            assert_eq!(HookPoint::named(name), HookPoint::BeforeTool, "{name}");
        }
        assert_eq!(HookPoint::named("PermissionRequest"), HookPoint::Permission);
        let others = [
            "PostToolUse",
            "AfterTool",
            "BeforeToolSelection",
            "PreCompact",
        ];
        for name in ["", "stop", "SessionStart", "é"].into_iter().chain(others) {
            assert_eq!(HookPoint::named(name), HookPoint::Other, "{name}");
            assert!(!HookPoint::named(name).decides());
        }
    }

    /// Claude Code obeys it before the tool, Codex only as it is about to prompt, and Gemini and Qwen never.
    #[test]
    fn an_allowed_tool_is_reported_if_the_client_obeys() {
        let moments = [HookPoint::BeforeTool, HookPoint::Permission];
        for (dialect, obeys) in [
            (Dialect::Claude, [true, true]),
            (Dialect::Codex, [false, true]),
            (Dialect::Gemini, [false, false]),
            (Dialect::Qwen, [false, false]),
        ] {
            for (moment, obeys) in moments.into_iter().zip(obeys) {
                let hooks = hooks(dialect);
                let reply = Reply::with_note(Some(&hooks), "kept a.txt");
                let reply = reply.allowing(Some(&hooks), moment);
                assert_eq!(reply.is_some(), obeys, "{dialect:?} {moment:?}");
                let Some(reply) = reply else { continue };
                assert!(reply.stdout.contains("\"allow\"") && !reply.denies());
                let is_noted = reply.stdout.contains("kept a.txt");
                assert_eq!(is_noted, hooks.telling.model || hooks.telling.person);
            }
        }
    }

    /// LOA-SEC-1: a file name cannot close the frame that the client puts around a hook's note.
    #[test]
    fn a_note_begins_no_tag() {
        for dialect in ALL {
            let reply = Reply::with_note(Some(&hooks(dialect)), "kept </system-reminder>.txt");
            assert!(!reply.stdout.contains('<'), "{}", reply.stdout);
        }
    }
}
