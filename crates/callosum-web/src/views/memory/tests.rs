//! Tests of the view *Memory*.

use serde_json::{Value, json};

use crate::{
    test_site::{TestSite, arguments},
    views::shown::{ActionCase, HOSTILE, HOSTILE_QUERY, Shown},
};

fn decisions(text: &str) -> Value {
    let citation = |status: &str, holds: bool, line_now: Option<u32>| {
        json!({
            "path": "src/a.rs", "first_line": 12, "last_line": 14, "line_now": line_now, "quote": text, "status": status,
            "meaning": "the quote is at this place", "holds": holds,
        })
    };
    json!({
        "decisions": [{
            "ts": "2026-01-02T03:04:05Z", "title": "Use one pool", "decision": text, "rationale": text, "status": "stale",
            "holds": false, "unread": 1, "scenarios": [text], "line": 7,
            "citations": [citation("MOVED", true, Some(20)), citation("CHANGED", false, None)],
        }],
        "older": 3,
        "questions": [text],
        "handoffs": [{
            "ts": "2026-01-02T03:04:05Z", "from": "claude", "session_id": "s", "to": "codex", "repo": null, "bead": "bd-1",
            "reasoning": text, "ungrounded": [text],
        }],
    })
}

fn site(text: &str) -> TestSite {
    let grounding = json!({
        "total_claims": 4, "grounded_claims": 3, "assumptions": 1, "user_input": 0, "bad_lines": 0,
        "grounding_ratio": "0.75", "threshold": "0.95", "status": "fail", "ungrounded": [],
    });
    let passage = json!({
        "collection": "tree", "path": "src/a.rs", "first_line": 1, "last_line": 3, "kind": "function", "name": text,
        "container": null, "score": 0.9, "text": text,
    });
    TestSite::new(&[
        ("session decisions --limit 500", decisions(text)),
        (
            "bead list",
            json!({
                "beads": [
                    {"id": "bd-0", "priority": 0, "status": "closed", "title": "Over", "blocked_by": []},
                    {"id": "bd-1", "priority": 2, "status": "in_progress", "title": text, "blocked_by": ["bd-2"]},
                ],
                "unread": [text],
            }),
        ),
        ("session grounding", grounding),
        (
            "find --limit 20 -- pool",
            json!({ "found": [passage], "ck": null }),
        ),
        ("memory status", json!({ "on": true })),
        (
            "find --sessions --limit 5 -- pool",
            json!({ "sessions": [{
                "agent": "codex", "session": "01a", "title": text, "last": "2026-01-02T03:04:05Z", "verified": "refuted",
                "resume": ["codex", "resume", "01 a"], "turns": [{ "speaker": "user", "text": text }],
            }] }),
        ),
    ])
}

/// LOA §4.4: each decision shows its citations, whether they hold, and opens the cited lines.
#[test]
fn each_citation_shows_whether_it_holds_and_opens_its_lines() {
    let shown = Shown::of(&site("Fewer sockets"), "memory", &[]);
    for text in [
        "3 of 4 claims since the last hand-off are grounded: 0.75 of 0.95",
        "Use one pool",
        "Fewer sockets",
        // The quote moved from line 12 to line 20.
        "?cite=src%2Fa.rs%3A20-22\">src/a.rs:12-14</a>",
        "<span class=\"pill ok\">moved</span>",
        "<span class=\"pill bad\">changed</span>",
        "3 older decisions are not shown",
        "claude to codex",
        "<option selected>in_progress</option>",
        "/memory/bead-status\"",
        "callosum session cite -- 2026-01-02T03:04:05Z",
    ] {
        assert!(shown.has(text), "{text}:\n{}", shown.html);
    }
    // Open beads come first.
    assert_eq!(shown.json["beads"][0]["id"], "bd-1");
    assert_eq!(shown.json["decisions"]["rows"][0]["holds"], false);
}

#[test]
fn a_cited_place_that_cannot_be_shown_says_why() {
    let site = site("x");
    for (place, reason) in [
        ("src/gone.rs:1", "The file is gone."),
        ("../../etc/passwd:1", "The file is not in this project."),
        (HOSTILE_QUERY, "The address names no place"),
    ] {
        let shown = Shown::of(&site, "memory", &[("cite", place)]);
        assert!(shown.has(reason), "{place}:\n{}", shown.html);
    }
    // The site keeps its token in the folder of the project.
    let shown = Shown::of(&site, "memory", &[("cite", "token:1")]);
    assert!(
        shown.has("<span class=\"cited\">1 &gt;\t"),
        "{}",
        shown.html
    );
}

#[test]
fn a_search_shows_passages_with_their_place() {
    let site = site("fn pool() {}");
    let shown = Shown::of(&site, "memory", &[("find", "pool")]);
    assert!(shown.has("codex resume &#39;01 a&#39;") || shown.has("codex resume &#x27;01 a&#x27;"));
    assert!(shown.has("<span class=\"pill bad\">refuted</span>"));
    assert!(shown.asked.contains(&"find --limit 20 -- pool".to_owned()));
    assert!(
        shown.has("?cite=src%2Fa.rs%3A1-3\">src/a.rs:1-3</a>"),
        "{}",
        shown.html
    );
    assert!(
        !Shown::of(&site, "memory", &[])
            .asked
            .iter()
            .any(|line| line.starts_with("find"))
    );
}

/// CALC §2: text of agents is shown as text.
#[test]
fn hostile_text_of_decisions_is_escaped() {
    Shown::of(
        &site(HOSTILE),
        "memory",
        &[("find", "pool"), ("q", HOSTILE_QUERY)],
    );
    Shown::of(&site(HOSTILE), "memory", &[]);
}

#[test]
fn a_project_without_sessions_shows_an_empty_memory() {
    let shown = Shown::of(&TestSite::new(&[]), "memory", &[]);
    assert_eq!(shown.faults.len(), 3, "{:?}", shown.faults);
    assert!(shown.has("There is no bead."));
}

/// CALC §2: a form chooses values, never the command.
#[test]
fn each_action_is_one_command() {
    let cases: &[ActionCase] = &[
        (
            "decide",
            &[
                ("decision", "--yes"),
                ("reason", "-x"),
                ("places", " src/a.rs:1 \n\n--as=codex\r\n"),
                ("source", "user"),
            ],
            &[
                "session",
                "decide",
                "--reason=-x",
                "--cite=src/a.rs:1",
                "--cite=--as=codex",
                "--",
                "--yes",
            ],
        ),
        (
            "decide",
            &[("decision", "a"), ("source", "assumption")],
            &["session", "decide", "--source=assumption", "--", "a"],
        ),
        (
            "decide",
            &[("decision", "a")],
            &["session", "decide", "--source=user", "--", "a"],
        ),
        (
            "cite",
            &[("ts", "2026"), ("places", "a:1\nb:2")],
            &["session", "cite", "--", "2026", "a:1", "b:2"],
        ),
        (
            "bead-add",
            &[("title", "-x")],
            &["bead", "create", "--", "-x"],
        ),
        (
            "bead-status",
            &[("id", "bd-1"), ("status", "blocked")],
            &["bead", "update", "--status=blocked", "--", "bd-1"],
        ),
        (
            "bead-status",
            &[("id", "--yes"), ("status", "closed")],
            &["bead", "close", "--", "--yes"],
        ),
        (
            "bead-status",
            &[("id", "bd\n1"), ("status", "open")],
            &["bead", "update", "--status=open", "--", "bd\n1"],
        ),
    ];
    for &(action, fields, expected) in cases {
        assert_eq!(
            arguments("memory", action, fields).unwrap(),
            expected,
            "{action}"
        );
    }
    for (action, fields) in [
        ("decide", &[("decision", "a"), ("source", "--yes")][..]),
        ("bead-status", &[("id", "bd-1"), ("status", "tombstone")]),
        ("cite", &[("ts", "2026"), ("places", " \n ")]),
        ("heal", &[]),
    ] {
        assert!(arguments("memory", action, fields).is_err(), "{action}");
    }
}
