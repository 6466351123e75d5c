//! Tests of the view *Conversation*.

use serde_json::{Value, json};

use crate::{
    test_site::{TestSite, arguments},
    views::shown::{ActionCase, HOSTILE, HOSTILE_QUERY, Shown},
};

fn message(id: &str, reply_to: Option<&str>, state: &str, minute: u8, text: &str) -> Value {
    json!({
        "id": id, "from": "claude-code", "to": "codex@7f", "content": text, "reply_to": reply_to,
        "timestamp": format!("2026-01-02T03:{minute:02}:00Z"), "state": state, "evidence": text, "expires": null,
        "session_id": "7f",
    })
}

fn site(messages: &[Value], text: &str) -> TestSite {
    let discovery = json!({
        "id": "d1", "content": text, "source": "gemini-cli", "timestamp": "2026-01-02T03:30:00Z", "cwd": text,
    });
    TestSite::new(&[
        ("mesh message list --all", json!({ "messages": messages })),
        ("mesh discovery list", json!({ "discoveries": [discovery] })),
    ])
}

/// CALC §2: messages with their delivery states and discoveries are one stream.
#[test]
fn the_newest_thread_comes_first_and_answers_are_below_their_message() {
    let site = site(
        &[
            message("m1", None, "acked", 1, "first question"),
            message("m2", None, "dead", 2, "lost"),
            message("m3", Some("m1"), "queued", 40, "late answer"),
        ],
        "serde 2 breaks the export",
    );
    let shown = Shown::of(&site, "conversation", &[]);
    let place = |text: &str| {
        let found = shown.html.find(text);
        found.unwrap_or_else(|| panic!("{text}:\n{}", shown.html))
    };
    assert!(place("first question") < place("late answer"));
    assert!(place("late answer") < place("serde 2 breaks"));
    assert!(place("serde 2 breaks") < place(">lost<"));
    assert_eq!(shown.html.matches("<ul class=\"tree\">").count(), 1);
    for text in [
        "acknowledged",
        "waits for delivery",
        "dead letter: not delivered",
        "/conversation/retry\"",
        "<option>codex@7f</option>",
    ] {
        assert!(shown.has(text), "{text}");
    }
    let of_gemini = Shown::of(&site, "conversation", &[("agent", "gemini-cli")]);
    assert!(of_gemini.has("serde 2 breaks") && !of_gemini.has("first question"));
    let found = Shown::of(&site, "conversation", &[("q", "late")]);
    assert!(found.has("first question") && !found.has(">lost<"));
}

/// CALC §2: text of agents is shown as text.
#[test]
fn hostile_text_of_messages_is_escaped() {
    let hostile = message(HOSTILE, Some(HOSTILE), "dead", 1, HOSTILE);
    let query = [("agent", HOSTILE_QUERY), ("q", HOSTILE_QUERY)];
    Shown::of(&site(&[hostile], HOSTILE), "conversation", &query);
    let mut named = message("m1", None, "new-state", 1, HOSTILE);
    named["from"] = HOSTILE.into();
    named["to"] = HOSTILE.into();
    Shown::of(&site(&[named], HOSTILE), "conversation", &[]);
}

/// CALC §2: a line that a person copies from the page does only what it shows.
#[test]
fn an_id_with_shell_words_is_quoted_in_the_line() {
    let hostile = message("; rm -rf $HOME", None, "dead", 1, "x");
    let shown = Shown::of(&site(&[hostile], "x"), "conversation", &[]);
    let line = "callosum mesh message send &#39;--reply-to=; rm -rf $HOME&#39; -- claude-code -";
    assert!(shown.has(line), "{}", shown.html);
}

#[test]
fn a_part_that_fails_leaves_the_other() {
    let site = TestSite::new(&[("mesh discovery list", json!({ "discoveries": [] }))]);
    let shown = Shown::of(&site, "conversation", &[]);
    assert_eq!(shown.faults, ["no result for `mesh message list --all`"]);
    assert!(shown.has("Write to an agent"));
}

/// CALC §2: a form chooses values, never the command.
#[test]
fn each_action_is_one_command() {
    let cases: &[ActionCase] = &[
        (
            "send",
            &[("to", "codex"), ("other", ""), ("text", "--as=codex\n-x")],
            &["mesh", "message", "send", "--", "codex", "--as=codex\n-x"],
        ),
        (
            "send",
            &[("to", "codex"), ("other", " gemini-cli@9 "), ("text", "a")],
            &["mesh", "message", "send", "--", "gemini-cli@9", "a"],
        ),
        (
            "send",
            &[("to", "codex"), ("reply_to", "--yes"), ("text", "a")],
            &[
                "mesh",
                "message",
                "send",
                "--reply-to=--yes",
                "--",
                "codex",
                "a",
            ],
        ),
        (
            "share",
            &[("text", "-x")],
            &["mesh", "discovery", "share", "--", "-x"],
        ),
        (
            "retry",
            &[("id", "m")],
            &["mesh", "message", "retry", "--", "m"],
        ),
        (
            "drop",
            &[("id", "m")],
            &["mesh", "message", "drop", "--", "m"],
        ),
        (
            "forget",
            &[("id", "d")],
            &["mesh", "discovery", "remove", "--", "d"],
        ),
    ];
    for &(action, fields, expected) in cases {
        assert_eq!(
            arguments("conversation", action, fields).unwrap(),
            expected,
            "{action}"
        );
    }
    assert!(arguments("conversation", "send", &[("to", "codex")]).is_err());
    assert!(arguments("conversation", "read", &[]).is_err());
}
