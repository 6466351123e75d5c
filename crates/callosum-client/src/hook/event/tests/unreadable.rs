//! Events that none of the clients would send.

use proptest::prelude::*;

use super::*;

/// CAKE-SHIM-1: what is to be decided and cannot be read is an error, never harmless.
#[test]
fn what_cannot_be_read_is_an_error() {
    let no_command = |tool: &str| {
        Err(Unreadable::NoCommand {
            tool: tool.to_owned(),
        })
    };
    assert_eq!(acts("Bash", json!({})), no_command("Bash"));
    assert_eq!(acts("Bash", json!({"command": 7})), no_command("Bash"));
    assert_eq!(acts("Bash", json!("rm -rf /")), no_command("Bash"));
    assert_eq!(
        acts("shell", json!({"command": ["rm", 7]})),
        no_command("shell")
    );
    let no_path = |tool: &str| {
        Err(Unreadable::NoPath {
            tool: tool.to_owned(),
        })
    };
    assert_eq!(acts("Write", json!({"file_path": null})), no_path("Write"));
    assert_eq!(
        acts("apply_patch", json!({"command": "*** Begin Patch"})),
        no_path("apply_patch")
    );
    for (tool, input) in [
        ("shell", json!({"command": ["a\0b"]})),
        ("Bash", json!({"command": "rm\0 -rf /"})),
        ("Write", json!({"file_path": "a\0b"})),
    ] {
        let tool = tool.to_owned();
        assert_eq!(acts(&tool.clone(), input), Err(Unreadable::Nul { tool }));
    }
    assert_eq!(read(&json!({"tool_input": {}})), Err(Unreadable::NoTool));
    assert_eq!(read(&json!({"tool_name": ""})), Err(Unreadable::NoTool));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for wrong in [
        &b""[..],
        b"null",
        b"[]",
        b"{",
        b"{\"tool_name\": \"Bash\"} x",
        b"{\"tool_name\": \"\xff\"}",
        b"\0",
    ] {
        assert_eq!(Event::read(wrong), Err(Unreadable::NotAnObject));
        assert_eq!(Event::observed(wrong), None);
    }
    assert_eq!(Event::read(deep.as_bytes()), Err(Unreadable::TooDeep));
    assert_eq!(Event::observed(deep.as_bytes()), None);
}

/// CAKE-SHIM-1: half a surrogate pair, as a client in JavaScript may write it, hides none of the
/// text around it, and whole characters stay whole.
#[test]
fn half_a_character_is_read_as_none() {
    for (written, expected) in [
        (r"rm -rf /; echo \ud83d", "rm -rf /; echo \u{fffd}"),
        (r"\ude00 x", "\u{fffd} x"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\ud83dx\u0041\n", "\u{fffd}xA\n"),
        (r"\ud83d\\ud83d", "\u{fffd}\\ud83d"),
    ] {
        let event = format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"{written}"}}}}"#);
        let read = Event::read(event.as_bytes()).map(|event| event.action);
        assert_eq!(read, Ok(shell(expected)), "{written}");
    }
    let halves: &[u8] =
        br#"{"tool_name":"Bash","tool_input":{"command":"ls","description":"\ud83d"}}"#;
    assert_eq!(Event::read(halves).unwrap().action, shell("ls"));
    assert!(Event::observed(halves).is_some());
    for wrong in [
        &br#"{"a":"\ud8"#[..],
        br#"{"a":"\ud83d"#,
        br#"{"a":"\"#,
        br"\ud83d",
    ] {
        assert_eq!(Event::read(wrong), Err(Unreadable::NotAnObject));
    }
}

#[test]
fn a_command_of_ten_megabytes_is_read_and_more_than_any_client_sends_is_not() {
    let command = "echo x; ".repeat(1_300_000);
    assert_eq!(
        acts("Bash", json!({"command": command})),
        Ok(shell(&command))
    );
    assert_eq!(
        Event::read(&vec![b' '; LONGEST + 1]),
        Err(Unreadable::TooLong)
    );
}

proptest! {
    /// CAKE-SHIM-1: reading ends for any input, and a shell without a command never passes.
    #[test]
    fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(Event::read(&bytes));
        drop(Event::observed(&bytes));
        let mut event = br#"{"tool_name":"Bash","tool_input":"#.to_vec();
        event.extend_from_slice(&bytes);
        event.push(b'}');
        if let Ok(event) = Event::read(&event) {
            prop_assert!(matches!(event.action, Action::Shell(_)));
        }
    }
}
