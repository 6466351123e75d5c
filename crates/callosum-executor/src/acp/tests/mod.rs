//! Simulated agents: what they receive, which events follow, and how endings are read.

mod endings;
mod recorded;

use std::path::Path;

use callosum_host::Disk;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split},
    runtime,
    sync::{mpsc::unbounded_channel, watch},
};

use super::{policy::Policy, session::Session, worker::converse};
use crate::{
    output_format::{CUT_OFF, ClientError, ErrorText},
    protocol::Request,
    registry::Executor,
    transport::{Event, Job, LONGEST_MESSAGE, Transport, Want},
};

fn job(want: Want, root: &Path) -> Job {
    Job::of(
        Transport::Acp,
        want,
        &Executor::cli("a", "a"),
        root.to_owned(),
    )
}

/// Plays an agent that writes these lines. It writes an answer once it has received the request
/// with that number, under the id of that request. It writes what follows the name of a session
/// once it was asked something there. Returns what it received.
async fn play(agent: DuplexStream, lines: &str) -> Vec<Value> {
    let (from, mut to) = split(agent);
    let (heard, mut hears) = watch::channel(Vec::<Value>::new());
    let listens = async move {
        let mut from = BufReader::new(from).lines();
        let mut all = Vec::new();
        while let Ok(Some(line)) = from.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"].is_string() && !message["id"].is_null() {
                heard.send_modify(|ids| ids.push(message["id"].clone()));
            }
            all.push(message);
        }
        all
    };
    let says = async move {
        let mut is_open = false;
        for line in lines.lines() {
            let mut line = line.to_owned();
            if is_open && hears.wait_for(|ids| ids.len() >= 3).await.is_err() {
                break;
            }
            if let Ok(mut message) = serde_json::from_str::<Value>(&line)
                && message.get("method").is_none()
                && let Some(number) = message["id"].as_u64()
            {
                let number = usize::try_from(number).unwrap();
                let Ok(ids) = hears.wait_for(|ids| ids.len() >= number).await else {
                    break;
                };
                is_open |= number == 2;
                message["id"] = ids[number - 1].clone();
                line = message.to_string();
            }
            line.push('\n');
            if to.write_all(line.as_bytes()).await.is_err() {
                break;
            }
        }
        drop(to.shutdown().await);
    };
    tokio::join!(listens, says).0
}

/// Returns what an agent that writes these lines receives, and which events follow.
fn played(want: Want, root: &Path, lines: &str) -> (Vec<Value>, Vec<Event>, Result<(), ErrorText>) {
    let disk = Disk::real();
    let policy = Policy { disk: &disk, root };
    let job = job(want, root);
    let (tell, mut receiver) = unbounded_channel();
    let (ours, theirs) = duplex(1 << 14);
    let (from, to) = split(ours);
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (received, ended) = runtime.block_on(async {
        tokio::join!(play(theirs, lines), converse(&job, &policy, from, to, tell))
    });
    let events = std::iter::from_fn(|| receiver.try_recv().ok());
    let ended = ended.map_err(|failure| failure.complaint(None));
    (received, events.collect(), ended)
}

/// Returns the text that remains after all of these events.
fn text_of(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text { text: more } => text.push_str(more),
            Event::Anew => text.clear(),
            _ => {}
        }
    }
    text
}

fn asked() -> Want {
    Want::Answer(Request::bare("map it"))
}

/// LOA-SEC-1: reading within the tree is allowed, all else refused, what is unknown not known.
#[test]
fn an_agent_may_read_the_tree_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    Disk::real().create_dir_all(&root).unwrap();
    for (path, text) in [("tree/a.txt", "1\n2\n3\n"), ("outside.txt", "secret\n")] {
        Disk::real()
            .replace(&folder.path().join(path), text.as_bytes(), 0o644)
            .unwrap();
    }
    std::os::unix::fs::symlink(folder.path().join("outside.txt"), root.join("link")).unwrap();
    let disk = Disk::real();
    let policy = Policy {
        disk: &disk,
        root: &root,
    };
    let inside = root.join("a.txt");
    let outside = folder.path().join("outside.txt");
    let read = |path: &Path| policy.answer("fs/read_text_file", &json!({"path": path}));
    assert_eq!(read(&inside).unwrap()["content"], "1\n2\n3\n");
    let some = json!({"path": inside, "line": 2, "limit": 1});
    assert_eq!(
        policy.answer("fs/read_text_file", &some).unwrap()["content"],
        "2\n"
    );
    for wrong in [
        outside.as_path(),
        &root.join("link"),
        &root,
        Path::new("../outside.txt"),
    ] {
        assert!(read(wrong).is_err(), "{}", wrong.display());
    }
    let write = json!({"path": inside, "content": "x"});
    assert!(policy.answer("fs/write_text_file", &write).is_err());
    assert_eq!(
        policy.answer("terminal/create", &json!({})).unwrap_err().0,
        -32601
    );
    let options = json!([{"optionId": "y", "kind": "allow_once"}, {"optionId": "a", "kind": "allow_always"},
        {"optionId": "n", "kind": "reject_once"}]);
    let permission = |kind: &str, locations: Value, options: &Value| {
        let call = json!({"kind": kind, "locations": locations});
        let params = json!({"toolCall": call, "options": options});
        let answer = policy
            .answer("session/request_permission", &params)
            .unwrap();
        let option = answer.pointer("/outcome/optionId").and_then(Value::as_str);
        option.map(str::to_owned)
    };
    let at = |path: &Path| json!([{"path": path}]);
    assert_eq!(
        permission("read", at(&inside), &options).as_deref(),
        Some("y")
    );
    for (kind, locations) in [
        ("read", at(&outside)),
        ("read", json!([{"path": inside}, {"path": outside}])),
        ("read", json!([])),
        ("edit", at(&inside)),
        ("execute", at(&inside)),
        ("", json!(null)),
    ] {
        assert_eq!(
            permission(kind, locations, &options).as_deref(),
            Some("n"),
            "{kind}"
        );
    }
    let only_yes = json!([{"optionId": "y", "kind": "allow_always"}]);
    assert_eq!(permission("edit", at(&inside), &only_yes), None);
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
const OPENED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#;

/// A session's update, as an agent writes it.
fn update(update: &Value) -> String {
    let params = json!({"sessionId": "s", "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

fn chunk(text: &str) -> String {
    update(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    )
}

/// CAL-COM-1: methods, updates and lines that the protocol does not know are no failure. An agent
/// that sends an unknown request gets the error that there is no such method, and nothing else is
/// sent.
#[test]
fn what_the_protocol_does_not_know_is_passed_over() {
    let lines = [
        "[INFO] ready",
        r#"{"level":"info","text":"a log"}"#,
        HELLO,
        r#"{"jsonrpc":"2.0","method":"_auth/status_update","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","id":"theirs","method":"craft/unknown","params":{}}"#,
        OPENED,
        &update(&json!({"sessionUpdate": "of_tomorrow", "x": [1]})),
        &update(&json!({"sessionUpdate": "tool_call", "content": 7})),
        r#"{"jsonrpc":"2.0","id":"other","result":{}}"#,
        "{broken",
        &chunk("whole"),
        r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"input_tokens":4,"output_tokens":2}},"error":null}"#,
    ];
    let (received, events, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(text_of(&events), "whole");
    let usage = Event::Usage {
        input: 4,
        cached: 0,
        output: 2,
    };
    assert!(events.contains(&usage), "{events:?}");
    let odd = Event::Odd {
        line: "[INFO] ready".to_owned(),
    };
    assert_eq!(events.iter().filter(|it| **it == odd).count(), 1);
    let errors: Vec<_> = received
        .iter()
        .filter(|it| it["error"].is_object())
        .collect();
    assert_eq!(errors.len(), 1, "{received:?}");
    assert_eq!(errors[0]["id"], "theirs");
    assert_eq!(errors[0]["error"]["code"], -32601);
}

/// CAL-COM-1: what an agent says before a tool is no part of the answer, though it tells of none that was
/// refused.
#[test]
fn a_tool_that_was_refused_is_still_one() {
    let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "c", "kind": "execute"}, "options": []});
    let asks = json!({"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params});
    let asks = asks.to_string();
    let last = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;
    let lines = [
        HELLO,
        OPENED,
        &chunk("Looking."),
        &asks,
        &chunk("Done."),
        last,
    ];
    let (received, events, ended) = played(asked(), Path::new("/"), &lines.join("\n"));
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(text_of(&events), "Done.");
    let refused = json!({"outcome": {"outcome": "cancelled"}});
    assert!(
        received
            .iter()
            .any(|received| received["result"] == refused),
        "{received:?}"
    );
}

const ENDED: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;

fn asks_to_run(title: &str) -> String {
    let call = json!({"toolCallId": "c", "kind": "execute", "title": title});
    let params = json!({"sessionId": "s", "toolCall": call, "options": []});
    json!({"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params})
        .to_string()
}

/// CAL-COM-1: where an agent counts each call of its model, all calls count.
#[test]
fn what_each_call_took_is_added_up() {
    let counted = |input: u64| {
        update(&json!({
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"},
            "_meta": {"usage": {"inputTokens": input, "outputTokens": 1}},
        }))
    };
    let lines = [HELLO, OPENED, &counted(10), &counted(20), ENDED].join("\n");
    let (_, events, _) = played(asked(), Path::new("/"), &lines);
    let counts = events.iter().find_map(|event| match event {
        Event::Usage { input, output, .. } => Some((*input, *output)),
        _ => None,
    });
    assert_eq!(counts, Some((30, 2)));
}

/// CAL-COM-1: what an agent tells of another session is no part of the answer.
#[test]
fn only_its_own_session_is_the_answer() {
    let other = chunk("of another").replace(r#""sessionId":"s""#, r#""sessionId":"t""#);
    assert_ne!(other, chunk("of another"));
    let lines = [HELLO, OPENED, &chunk("The answer."), &other, ENDED].join("\n");
    let (_, events, ended) = played(asked(), Path::new("/"), &lines);
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(text_of(&events), "The answer.");
}

/// CAL-COM-1: numbers that count nothing are no usage.
#[test]
fn a_number_of_tokens_that_cannot_be_is_not_reported() {
    for (count, is_reported) in [
        (json!(12), true),
        (json!(1_u64 << 53), true),
        (json!((1_u64 << 53) + 1), false),
        (json!(-12), false),
        (json!(1.5), false),
        (json!("12"), false),
    ] {
        let usage = json!({"inputTokens": count, "outputTokens": 1});
        let result = json!({"stopReason": "end_turn", "usage": usage});
        let last = json!({"jsonrpc": "2.0", "id": 3, "result": result}).to_string();
        let lines = [HELLO, OPENED, &chunk("Done."), &last].join("\n");
        let (_, events, ended) = played(asked(), Path::new("/"), &lines);
        assert!(ended.is_ok(), "{ended:?}");
        let reported = events.iter().any(|it| matches!(it, Event::Usage { .. }));
        assert_eq!(reported, is_reported, "{count}");
    }
}

/// CAL-ERR-1: an error is named by its status, if it has one, as its code or next to it, and by its
/// words otherwise. Stack traces are not reported.
#[test]
fn an_error_is_named_by_its_status() {
    let stack = "401 Incorrect API key provided: none\n    at APIError.generate (file:///a.js:1:2)\n    at b";
    for (error, says) in [
        (
            json!({"code": 429, "message": "Slow"}),
            "has reached its rate limit: Slow",
        ),
        (
            json!({"code": 401, "message": "No"}),
            "is not logged in: No",
        ),
        (
            json!({"code": 403, "message": "No"}),
            "is not logged in: No",
        ),
        (
            json!({"code": 503, "message": "No"}),
            "reached an overloaded server: No",
        ),
        (
            json!({"code": -32603, "message": "No", "data": {"status": 429}}),
            "has reached its rate limit: No",
        ),
        (
            json!({"code": -32603, "message": "No", "data": {"code": "503"}}),
            "reached an overloaded server: No",
        ),
        (
            json!({"code": -32603, "message": "Internal error", "data": {"details": stack}}),
            "is not logged in: Internal error: 401 Incorrect API key provided: none",
        ),
        (
            json!({"code": -32603, "message": stack}),
            "is not logged in: 401 Incorrect API key provided: none",
        ),
        (
            json!({"code": 500, "message": "You exceeded your current quota. Please retry in 17.7s."}),
            "has reached its rate limit, which is lifted in 17.7s: You exceeded",
        ),
        (
            json!({"code": -32603, "message": "Internal error"}),
            "failed: Internal error",
        ),
    ] {
        let last = json!({"jsonrpc": "2.0", "id": 3, "error": error}).to_string();
        let (_, _, ended) = played(asked(), Path::new("/"), &[HELLO, OPENED, &last].join("\n"));
        let message = ended.unwrap_err().classify().to_string();
        assert!(message.starts_with(says), "{error}: {message}");
        assert!(!message.contains("a.js"), "{message}");
    }
}
