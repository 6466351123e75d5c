//! Endings of an answer: whole, cut, refused, failed, too long.

use super::*;

/// CAL-COM-1, CAL-ERR-1: text before a tool call is no answer if no text follows. If we refused the
/// tool, the error names it, and asking again would not help.
#[test]
fn words_before_a_tool_are_no_answer_where_it_ends_there() {
    let call = update(&json!({"sessionUpdate": "tool_call", "title": "ls"}));
    let lines = [HELLO, OPENED, &chunk("Looking."), &call, ENDED];
    let (_, events, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(text_of(&events), "");
    let asks = asks_to_run("rm -rf build");
    for stopped in ["end_turn", "cancelled"] {
        let ended = ENDED.replace("end_turn", stopped);
        for chunks in [
            vec![],
            vec![chunk("Looking.")],
            vec![chunk("Looking."), call.clone()],
        ] {
            let mut lines = vec![HELLO.to_owned(), OPENED.to_owned()];
            lines.extend(
                chunks
                    .into_iter()
                    .chain([asks.clone(), chunk(" \n"), ended.clone()]),
            );
            let (_, _, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
            let fault = ended.unwrap_err().classify();
            assert!(
                fault.to_string().ends_with("approval: rm -rf build"),
                "{fault}"
            );
            assert!(!fault.may_pass());
        }
    }
}

/// CAL-ERR-1: Gemini CLI ends its turn as usual where the model's stream broke off, having counted nothing.
#[test]
fn an_answer_of_which_no_token_was_counted_is_cut() {
    let of = |quota: &Value| {
        let result = json!({"stopReason": "end_turn", "_meta": {"quota": quota}});
        let last = json!({"jsonrpc": "2.0", "id": 3, "result": result}).to_string();
        let lines = [HELLO, OPENED, &chunk("The first half"), &last].join("\n");
        played(asked(), Path::new("/"), &lines).2
    };
    let nothing = json!({"input_tokens": 0, "output_tokens": 0});
    let cut = of(&json!({"token_count": nothing, "model_usage": []}));
    let cut = cut.unwrap_err().classify().to_string();
    assert!(cut.starts_with("was cut off"), "{cut}");
    let some = json!({"input_tokens": 7, "output_tokens": 1});
    assert!(of(&json!({"token_count": some, "model_usage": []})).is_ok());
    assert!(of(&json!({"token_count": nothing, "model_usage": [{"model": "m"}]})).is_ok());
    assert!(of(&json!(null)).is_ok());
}

/// CAL-ERR-1: a message right behind another one goes on where that was cut, and its text is the rest
/// alone; with work between them, or a tool after both, it is a message like others.
#[test]
fn a_message_that_goes_on_from_a_cut_one_is_no_answer() {
    let say = |id: &str, text: &str| {
        update(&json!({
            "sessionUpdate": "agent_message_chunk", "messageId": id,
            "content": {"type": "text", "text": text},
        }))
    };
    let between = |updates: &[Value]| {
        let mut lines = vec![HELLO.to_owned(), OPENED.to_owned(), say("1", "Half of ")];
        lines.extend(updates.iter().map(update));
        lines.extend([say("2", "the answer."), ENDED.to_owned()]);
        let (_, events, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
        (text_of(&events), ended)
    };
    let cost = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
    for updates in [vec![], vec![cost]] {
        let ended = between(&updates).1;
        assert_eq!(ended.unwrap_err().kind.as_deref(), Some(CUT_OFF));
    }
    let thought = json!({
        "sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "so"},
    });
    let (text, ended) = between(&[thought]);
    assert_eq!((text.as_str(), ended.is_ok()), ("the answer.", true));
}

/// CAL-ERR-1: an agent whose model's answers break off one after the other is ended; one whose model uses a tool in between
/// is not.
#[test]
fn messages_after_a_cut_one_make_no_progress() {
    let is_stalled = |tool_after: Option<usize>| {
        let mut session = Session::default();
        (0..6).any(|number| {
            let message = json!({"update": {
                "sessionUpdate": "agent_message_chunk", "messageId": number.to_string(),
                "content": {"type": "text", "text": "Half of it"},
            }});
            assert!(session.take(&message));
            if tool_after.is_some_and(|after| number % after == after - 1) {
                let tool = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t"}});
                assert!(session.take(&tool));
            }
            session.is_stalled()
        })
    };
    assert!(is_stalled(None));
    assert!(!is_stalled(Some(1)));
    assert!(!is_stalled(Some(3)));
}

/// CAL-ERR-1, CAL-ERR-3: Codex tells why a turn failed as a message like others, and ends the turn as usual; what it
/// tells of a stream that was cut is asked for again, whole.
#[test]
fn a_turn_of_codex_that_failed_is_no_answer_and_one_that_was_asked_again_is() {
    let status = |kind: &str| {
        update(&json!({
            "sessionUpdate": "session_info_update",
            "_meta": {"codex": {"threadStatus": {"type": kind, "activeFlags": []}}},
        }))
    };
    let say = |id: &str, text: &str| {
        update(&json!({
            "sessionUpdate": "agent_message_chunk", "messageId": id,
            "content": {"type": "text", "text": text},
        }))
    };
    let failed = |words: &str| {
        let message = json!({
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words},
        });
        let lines = [
            HELLO.to_owned(),
            OPENED.to_owned(),
            status("active"),
            say("1", "Half of it"),
            status("systemError"),
            update(&message),
            ENDED.to_owned(),
        ];
        let (_, _, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
        ended.unwrap_err().classify()
    };
    let cut = failed("Incomplete response returned, reason: max_output_tokens\n\n");
    assert!(matches!(cut, ClientError::CutStream { .. }), "{cut:?}");
    let long =
        failed(r#"{"type": "error", "error": {"message": "prompt is too long: 2 > 1 maximum"}}"#);
    assert!(
        matches!(long, ClientError::PromptTooLong { .. }),
        "{long:?}"
    );
    let lines = [
        HELLO.to_owned(),
        OPENED.to_owned(),
        status("active"),
        say("1", "I look."),
        say("2", "The answer."),
        status("idle"),
        ENDED.to_owned(),
    ];
    let (_, events, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
    assert_eq!(
        (text_of(&events).as_str(), ended.is_ok()),
        ("The answer.", true)
    );
}

/// CAL-ERR-1: more than an answer may have is E006, in one message or in many.
#[test]
fn an_agent_may_not_say_more_than_an_answer_has() {
    let many = vec![chunk(&"x".repeat(1 << 20)); 5].join("\n");
    let one = "x".repeat(LONGEST_MESSAGE + (1 << 16));
    for long in [many, one] {
        let lines = [HELLO, OPENED, &long].join("\n");
        let (_, events, _) = played(asked(), Path::new("/"), &lines);
        assert!(events.contains(&Event::TooMuch));
    }
}

/// CAL-COM-1: what is no answer has its tokens, as the same result tells them.
#[test]
fn an_answer_that_is_cut_or_refused_is_paid_for() {
    for reason in ["max_tokens", "refusal", "max_turn_requests"] {
        let usage = json!({"inputTokens": 100, "outputTokens": 20, "totalTokens": 120});
        let result = json!({"stopReason": reason, "usage": usage});
        let last = json!({"jsonrpc": "2.0", "id": 3, "result": result}).to_string();
        let (_, events, ended) =
            played(asked(), Path::new("/"), &[HELLO, OPENED, &last].join("\n"));
        assert!(ended.is_err(), "{reason}");
        let took = events.iter().any(|event| {
            matches!(
                event,
                Event::Usage {
                    input: 100,
                    output: 20,
                    ..
                }
            )
        });
        assert!(took, "{reason}: {events:?}");
    }
}

/// CAL-ERR-1: each way of ending without an answer is reported as what it is.
#[test]
fn an_agent_without_an_answer_says_why() {
    let message = |lines: &[&str]| {
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        match played(asked(), Path::new("/"), &lines.concat()).2 {
            Err(complaint) => complaint.classify().to_string(),
            Ok(()) => "an answer".to_owned(),
        }
    };
    for (lines, says) in [
        (
            vec!["Welcome!"],
            "does not speak its protocol: the agent ended and wrote nothing",
        ),
        (
            vec![r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":7}}"#],
            "unsupported ACP protocol version 7",
        ),
        (
            vec![
                HELLO,
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}"#,
            ],
            "is not logged in: Authentication required",
        ),
        (
            vec![
                HELLO,
                OPENED,
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"429 Too Many Requests"}}}"#,
            ],
            "has reached its rate limit",
        ),
        (
            vec![HELLO, OPENED],
            "was cut off in the middle of its answer: the agent ended",
        ),
        (
            vec![
                HELLO,
                OPENED,
                r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}"#,
            ],
            "refused: ",
        ),
        (
            vec![
                HELLO,
                OPENED,
                r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}"#,
            ],
            "stopped at one of its own limits",
        ),
    ] {
        let message = message(&lines);
        assert!(message.contains(says), "{message}");
    }
}
