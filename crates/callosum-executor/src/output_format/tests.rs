//! Recorded output of clients, and the result of reading it.

use callosum_citation::tokens;
use callosum_host::{Disk, process::Ending};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    client_error::ClientError,
    name::Dialect,
    run::{LONGEST_DOING, OutputListener, as_answer},
    stream_state::ParsedOutput,
};
use crate::{
    protocol::parse_answer,
    registry::Capabilities,
    runner::{Listener as _, Sign},
    sanitize::fit,
};

fn recorded(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/outputs/");
    Disk::real()
        .read(format!("{folder}{name}").as_ref())
        .unwrap()
}

fn read(
    dialect: Dialect,
    output: &[u8],
    error: &[u8],
    code: i32,
) -> Result<ParsedOutput, ClientError> {
    let mut ear = OutputListener::new(dialect);
    for piece in output.chunks(100) {
        ear.hear(piece, &mut |_| {});
    }
    let words = fit(&String::from_utf8_lossy(error));
    ear.finish(error).conclude(Ending::Exited(code), &words)
}

/// Input, cached and output tokens, the summary, the model.
fn check(dialect: Dialect, name: &str, tokens: [u64; 3], summary: &str, model: &str) {
    let heard = read(dialect, &recorded(name), b"", 0).unwrap();
    let counted = heard.hearing.tokens.unwrap();
    assert_eq!(
        [counted.input, counted.cached, counted.output],
        tokens,
        "{name}"
    );
    assert_eq!(heard.summary, summary, "{name}");
    assert_eq!(
        heard.hearing.model.as_deref().unwrap_or(""),
        model,
        "{name}"
    );
}

/// CAL-COM-1: summary, tokens and model of every client, in each form that it has.
#[test]
fn recorded_answers_are_read() {
    use Dialect::{Claude, Codex, Gemini, Opencode, Qwen};
    let opus = "claude-opus-5-5";
    check(
        Claude,
        "claude.json",
        [4100, 1400, 65],
        "SUMMARY: one file a.txt",
        opus,
    );
    check(
        Claude,
        "claude.tool.jsonl",
        [4100, 1400, 65],
        "SUMMARY: one file a.txt",
        opus,
    );
    check(
        Claude,
        "claude.ok.jsonl",
        [140, 40, 20],
        "SUMMARY: fine",
        opus,
    );
    check(
        Claude,
        "claude.schema.jsonl",
        [12577, 0, 18],
        "SUMMARY: by schema",
        opus,
    );
    check(
        Codex,
        "codex.tool.jsonl",
        [2700, 1400, 65],
        "SUMMARY: two files",
        "",
    );
    check(Codex, "codex.ok.jsonl", [100, 40, 20], "SUMMARY: fine", "");
    check(
        Codex,
        "codex.schema.jsonl",
        [9604, 0, 12],
        "SUMMARY: by schema",
        "",
    );
    let flash = "gemini-2.5-flash";
    check(
        Gemini,
        "gemini.json",
        [2700, 1400, 65],
        "SUMMARY: two files",
        flash,
    );
    check(
        Gemini,
        "gemini.tool.jsonl",
        [38173, 0, 48],
        "All done.",
        flash,
    );
    check(
        Gemini,
        "gemini.ok.jsonl",
        [100, 40, 20],
        "SUMMARY: fine",
        flash,
    );
    check(
        Opencode,
        "opencode.tool.jsonl",
        [23837, 0, 42],
        "All done.",
        "",
    );
    check(
        Opencode,
        "opencode.ok.jsonl",
        [100, 40, 20],
        "SUMMARY: fine",
        "",
    );
    check(Qwen, "qwen.json", [59726, 0, 54], "All done.", "fake-model");
    check(
        Qwen,
        "qwen.ok.jsonl",
        [11168, 40, 27],
        "SUMMARY: fine",
        "fake-model",
    );
    check(
        Qwen,
        "qwen.schema.jsonl",
        [15781, 0, 18],
        "SUMMARY: by schema",
        "fake-model",
    );
}

/// CAL-ERR-1, CAL-ERR-2, CAL-ERR-3: each client's own way of failing has one name.
#[test]
fn recorded_failures_are_named() {
    use Dialect::{Claude, Codex, Gemini, Opencode, Qwen};
    let logged_out = "is not logged in: ";
    let limited = "has reached its rate limit";
    let overloaded = "reached an overloaded server: ";
    let too_long = "rejected the prompt as too long: ";
    let cut = "was cut off in the middle of its answer";
    for (dialect, name, code, expected) in [
        (Claude, "claude.401.jsonl", 1, logged_out),
        (Codex, "codex.401.jsonl", 1, logged_out),
        (Gemini, "gemini.401.jsonl", 145, logged_out),
        (Qwen, "qwen.401.jsonl", 1, logged_out),
        (Opencode, "opencode.401.jsonl", 1, logged_out),
        (
            Claude,
            "claude.429.jsonl",
            1,
            "has reached its rate limit, which is lifted in 20s: ",
        ),
        (Codex, "codex.429.jsonl", 1, limited),
        (
            Gemini,
            "gemini.429.jsonl",
            173,
            "has reached its rate limit, which is lifted in 20s: ",
        ),
        (
            Opencode,
            "opencode.429.jsonl",
            1,
            "has reached its rate limit, which is lifted in 20s: ",
        ),
        (Claude, "claude.529.jsonl", 1, overloaded),
        (Codex, "codex.529.jsonl", 1, overloaded),
        (Gemini, "gemini.529.jsonl", 17, overloaded),
        (Claude, "claude.400.jsonl", 1, too_long),
        (Codex, "codex.400.jsonl", 1, too_long),
        (Gemini, "gemini.400.jsonl", 144, too_long),
        (Qwen, "qwen.400.jsonl", 1, too_long),
        (Opencode, "opencode.400.jsonl", 1, too_long),
        (Codex, "codex.cut.jsonl", 1, cut),
        (Gemini, "gemini.cut.jsonl", 0, cut),
        (Qwen, "qwen.cut.jsonl", 1, cut),
        (Opencode, "opencode.cut.jsonl", 0, cut),
    ] {
        let fault = read(dialect, &recorded(name), b"", code).unwrap_err();
        assert!(fault.to_string().starts_with(expected), "{name}: {fault}");
    }
}

/// Gemini's `-o json` tells its error on standard error, and exits with the status modulo 256.
#[test]
fn an_error_on_standard_error_is_read() {
    let error = b"Warning: no colour\n{\n  \"session_id\": \"x\",\n  \"error\": {\n    \"type\": \"Error\",\n    \
        \"message\": \"Overloaded\",\n    \"code\": 529\n  }\n}\n";
    let fault = read(Dialect::Gemini, b"", error, 17).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "reached an overloaded server: Overloaded"
    );
}

/// CAL-ERR-3: no beginning of an answer is taken for one.
#[test]
fn no_beginning_of_an_answer_is_an_answer() {
    for (dialect, name) in [
        (Dialect::Claude, "claude.tool.jsonl"),
        (Dialect::Codex, "codex.tool.jsonl"),
        (Dialect::Gemini, "gemini.tool.jsonl"),
        (Dialect::Opencode, "opencode.tool.jsonl"),
        (Dialect::Qwen, "qwen.json"),
    ] {
        let whole = recorded(name);
        let whole = whole.trim_ascii_end();
        let lines: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
        for cut in lines.into_iter().chain([whole.len() / 2, whole.len() - 1]) {
            let fault = read(dialect, &whole[..cut], b"", 0);
            assert!(
                matches!(
                    fault,
                    Err(ClientError::NoAnswer { .. } | ClientError::CutStream { .. })
                ),
                "{name} at {cut}: {fault:?}"
            );
        }
        assert!(read(dialect, whole, b"", 0).is_ok());
    }
}

/// Returns the result of these events, one a line, and a good end.
fn outcome(dialect: Dialect, events: &[Value]) -> Result<String, ClientError> {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let heard = read(dialect, lines.join("\n").as_bytes(), b"", 0)?;
    Ok(heard.summary)
}

/// CAL-ERR-3: a form without text is no answer, and is not reported as a text either.
#[test]
fn an_answer_in_which_nothing_is_to_be_seen_is_none() {
    for text in [
        r#"{"summary":""}"#,
        r#"{"summary":" \u200b\n"}"#,
        r#"{"summary":null}"#,
        "```json\n{\"summary\": \"\"}\n```",
        "\u{feff}\u{2800}",
    ] {
        let none = [
            outcome(
                Dialect::Claude,
                &[json!({"type": "result", "subtype": "success", "result": text})],
            ),
            outcome(
                Dialect::Qwen,
                &[json!({"type": "result", "subtype": "success", "result": text})],
            ),
            outcome(
                Dialect::Codex,
                &[
                    json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
                    json!({"type": "turn.completed"}),
                ],
            ),
            outcome(
                Dialect::Gemini,
                &[
                    json!({"type": "message", "role": "assistant", "content": text, "delta": true}),
                    json!({"type": "result", "status": "success"}),
                ],
            ),
            outcome(
                Dialect::Opencode,
                &[
                    json!({"type": "text", "part": {"text": text}}),
                    json!({"type": "step_finish", "part": {"reason": "stop"}}),
                ],
            ),
            read(Dialect::Text, text.as_bytes(), b"", 0).map(|heard| heard.summary),
        ];
        for none in none {
            assert!(matches!(none, Err(ClientError::NoAnswer { .. })), "{text}");
        }
    }
    let apart = json!({"type": "result", "subtype": "success", "result": "done", "structured_output": {"summary": ""}});
    let none = outcome(Dialect::Claude, &[apart]);
    assert!(matches!(none, Err(ClientError::NoAnswer { .. })));
}

/// CAL-ERR-1, CAL-ERR-2: a failure in the place of an answer, with a good end, is reported as what
/// it is.
#[test]
fn a_line_that_says_what_went_wrong_is_no_answer() {
    let claude = |text: &str| {
        outcome(
            Dialect::Claude,
            &[json!({"type": "result", "subtype": "success", "result": text})],
        )
    };
    let limited = claude("You've hit your session limit · resets 3pm").unwrap_err();
    let expected = "has reached its rate limit, which is lifted 3pm: ";
    assert!(limited.to_string().starts_with(expected), "{limited}");
    let plain =
        |text: &str| read(Dialect::Text, text.as_bytes(), b"", 0).map(|heard| heard.summary);
    let failed = plain("Error: model requires more system memory\n").unwrap_err();
    assert_eq!(failed.code(), callosum_ledger::ErrorCode::ExecutorCrash);
    plain("Error: is a type of three fields.\nIt is in src/a.rs.").unwrap();
}

/// CAL-ERR-3: what Gemini CLI stopped in the middle is no answer, though it calls that a success; where it
/// went on, it is.
#[test]
fn an_answer_that_gemini_stopped_is_none() {
    let message = |text: &str| json!({"type": "message", "role": "assistant", "content": text, "delta": true});
    let end = json!({"type": "result", "status": "success"});
    let stopped = |severity: &str, words: &str| json!({"type": "error", "severity": severity, "message": words});
    for (severity, words, expected) in [
        (
            "warning",
            "Loop detected, stopping execution",
            "was cut off in the middle of its answer: Loop detected",
        ),
        (
            "error",
            "Maximum session turns exceeded",
            "was cut off in the middle of its answer: Maximum session turns",
        ),
        (
            "error",
            "Resource has been exhausted (e.g. check quota).",
            "has reached its rate limit",
        ),
    ] {
        let stop = stopped(severity, words);
        let cut = [message("Half an"), stop.clone(), end.clone()];
        let fault = outcome(Dialect::Gemini, &cut).unwrap_err();
        assert!(fault.to_string().starts_with(expected), "{words}: {fault}");
        let whole = [stop, message("An answer."), end.clone()];
        assert_eq!(outcome(Dialect::Gemini, &whole).unwrap(), "An answer.");
    }
    let warned = [message("An answer."), stopped("warning", "a slow day"), end];
    assert_eq!(outcome(Dialect::Gemini, &warned).unwrap(), "An answer.");
    let document = json!({"session_id": "s", "response": "Half an", "warnings": ["Loop detected, stopping execution"]});
    let fault = outcome(Dialect::Gemini, &[document]).unwrap_err();
    assert!(matches!(fault, ClientError::CutStream { .. }), "{fault}");
}

/// CAL-COM-1: text before the client asked for its form by itself is the answer, if only a word
/// came after that; text before a tool call is none.
#[test]
fn an_answer_in_plain_text_outlives_the_demand_for_a_form() {
    let message = |id: &str, text: &str| json!({"type": "assistant", "message": {"id": id, "content": [{"type": "text", "text": text}]}});
    let used = json!({"type": "assistant", "message": {"id": "u", "content": [{"type": "tool_use", "id": "t", "name": "Read"}]}});
    let ended = |text: &str| json!({"type": "result", "subtype": "success", "is_error": false, "result": text});
    let answer = "`fn a() {}` [a.rs:1] begins it.";
    let claude = |events: &[Value]| outcome(Dialect::Claude, events).unwrap();
    let demanded = [message("1", answer), message("2", "done"), ended("done")];
    assert_eq!(claude(&demanded), answer);
    let looked = [
        message("1", "I look at the files first."),
        used,
        message("2", "It is so."),
        ended("It is so."),
    ];
    assert_eq!(claude(&looked), "It is so.");
    let more = format!("{answer} And more of it.");
    let longer = [message("1", answer), message("2", &more), ended(&more)];
    assert_eq!(claude(&longer), more);
    let vast = "x".repeat(20_000);
    let shortened = [message("1", &vast), message("2", answer), ended(answer)];
    assert_eq!(claude(&shortened), answer);
}

/// CAL-ERR-3: a run that Claude Code ended before its answer was complete is reported by its kind,
/// even if that is not called an error.
#[test]
fn an_answer_that_claude_ended_early_is_none() {
    let message =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Half an"}]}});
    for end in [
        json!({"type": "result", "subtype": "error_max_turns", "is_error": false}),
        json!({"type": "result", "subtype": "error_max_turns", "is_error": true}),
        json!({"type": "result", "subtype": "error_during_execution", "is_error": false, "result": "Half an"}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "Half an", "stop_reason": "max_tokens"}),
    ] {
        for dialect in [Dialect::Claude, Dialect::Qwen] {
            let fault = outcome(dialect, &[message.clone(), end.clone()]).unwrap_err();
            assert!(
                matches!(fault, ClientError::CutStream { .. }),
                "{end}: {fault}"
            );
        }
    }
}

/// CAL-ERR-1: a bad end without a message of its own is reported by the last output.
#[test]
fn a_crash_is_reported_with_its_last_words() {
    let fault = read(Dialect::Codex, b"", b"thread panicked\n", 101).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "ended with exit code 101: thread panicked"
    );
    assert_eq!(fault.code(), callosum_ledger::ErrorCode::ExecutorCrash);
    let banner = b"SAFE MODE: extensions are off\nWelcome\n";
    let fault = read(Dialect::Qwen, b"", banner, 3).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "ended with exit code 3, and printed nothing that explains it"
    );
    let fault = read(
        Dialect::Claude,
        b"",
        b"Not logged in. Please run /login\n",
        1,
    )
    .unwrap_err();
    assert!(matches!(fault, ClientError::NotLoggedIn { .. }));
    assert!(matches!(
        read(Dialect::Text, b" \n", b"", 0),
        Err(ClientError::NoAnswer { .. })
    ));
}

/// A model that answers in the form for programs is understood all the same.
#[test]
fn a_summary_in_json_is_taken_out_of_it() {
    let read_text = |text: &str| read(Dialect::Text, text.as_bytes(), b"", 0);
    let fenced = "```json\n{\"status\": \"success\", \"summary\": \"S\"}\n```";
    assert_eq!(read_text(fenced).unwrap().summary, "S");
    assert_eq!(
        read_text("{\"other\": 1}").unwrap().summary,
        "{\"other\": 1}"
    );
    let declined = read_text("{\"status\": \"error\", \"error\": \"no such folder\"}").unwrap_err();
    assert_eq!(
        declined.to_string(),
        "reports that it cannot answer: no such folder"
    );
}

#[test]
fn activity_of_a_client_is_reported_on_one_harmless_line() {
    let mut activities = Vec::new();
    let mut ear = OutputListener::new(Dialect::Codex);
    let event = json!({"type": "item.started", "item": {"type": "command_execution",
        "command": format!("cat a\n\u{1b}[2Jb AKIAQWERTYUIOPASDFGH {}", "x".repeat(400))}});
    ear.hear(format!("{event}\n").as_bytes(), &mut |sign| {
        if let Sign::Doing(what) = sign {
            activities.push(what.to_owned());
        }
    });
    assert_eq!(activities.len(), 1);
    assert!(
        activities[0].starts_with("runs cat a b [secret: aws access key]"),
        "{activities:?}"
    );
    assert!(activities[0].len() <= LONGEST_DOING + 3);
}

/// The counts and their source stand in the answer, under a checksum of ours.
#[test]
fn an_answer_says_who_counted() {
    let heard = read(Dialect::Claude, &recorded("claude.json"), b"", 0).unwrap();
    let answer = parse_answer(
        &as_answer("claude", 1, heard, Map::new()),
        Capabilities::default(),
    );
    let answer = answer.unwrap();
    assert_eq!(answer.tokens_used, 4165);
    assert_eq!(answer.metadata["token_method"], "reported by claude");
    assert_eq!(answer.metadata["tokens"]["cached"], 1400);
    assert_eq!(answer.metadata["cost_usd"], 0.01238);
    let heard = read(Dialect::Text, b"plain words", b"", 0).unwrap();
    let answer = parse_answer(
        &as_answer("text", 1, heard, Map::new()),
        Capabilities::default(),
    );
    assert_eq!(answer.unwrap().metadata["token_method"], tokens::METHOD);
}

proptest! {
    /// Bytes that a client might write are read or refused, never feared.
    #[test]
    fn foreign_events_are_answered(
        kind in "(system|assistant|result|error|item.completed|turn.failed|step_finish|text)",
        value in "(null|1|\"x\"|\\[\\]|\\{\\}|\\{\"message\":\\{\"content\":[1,\\{\\}]\\}\\}|-1|1e300)",
        key in "(message|part|item|usage|modelUsage|error|stats|result|response|is_error)",
    ) {
        let text = format!("{{\"type\":\"{kind}\",\"{key}\":{value}}}\n{{\"{key}\":{value}}}\n");
        for dialect in Dialect::ALL {
            let _outcome = read(dialect, text.as_bytes(), text.as_bytes(), 0);
        }
    }
}
