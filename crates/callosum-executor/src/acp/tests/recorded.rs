//! Conversations that were recorded with real agents, played back, and held against the protocol's own types.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, ReadTextFileResponse,
    RequestPermissionResponse, SessionNotification, SessionUpdate, StopReason,
};
use callosum_host::Disk;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{asked, played, text_of};
use crate::transport::{Event, Want};

fn recorded(agent: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/outputs/");
    let text = Disk::real()
        .read(format!("{folder}{agent}.acp.txt").as_ref())
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("<-- "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// CAL-COM-1: the last message and the tokens of real agents.
#[test]
fn recorded_conversations_are_answers() {
    for (agent, input, output) in [
        ("gemini", 25_541, 29),
        ("claude", 25_122, 29),
        ("codex", 22_578, 22),
    ] {
        let (received, events, ended) = played(asked(), Path::new("/"), &recorded(agent));
        assert!(ended.is_ok(), "{agent}: {ended:?}");
        assert_eq!(text_of(&events), "All done.", "{agent}");
        assert!(events.contains(&Event::Done), "{agent}");
        let usage = Event::Usage {
            input,
            cached: 0,
            output,
        };
        assert!(events.contains(&usage), "{agent}: {events:?}");
        let methods: Vec<_> = received
            .iter()
            .filter_map(|received| received["method"].as_str())
            .collect();
        assert_eq!(methods, ["initialize", "session/new", "session/prompt"]);
        // What wanted to write was refused: no answer of ours allows anything.
        for answer in received
            .iter()
            .filter(|received| received["result"].is_object())
        {
            let option = answer.pointer("/result/outcome/optionId");
            let option = option.and_then(Value::as_str).unwrap_or("reject");
            assert!(option.contains("reject"), "{agent}: {answer}");
        }
    }
}

/// Whether the protocol's own types read it, and know each of its fields.
fn is_understood<T: DeserializeOwned + Serialize>(message: &Value) {
    fn has(whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => part
                .iter()
                .all(|(key, part)| whole.get(key).is_some_and(|whole| has(whole, part))),
            (Value::Array(whole), Value::Array(part)) => {
                whole.len() == part.len() && whole.iter().zip(part).all(|(a, b)| has(a, b))
            }
            (whole, part) => whole == part,
        }
    }
    let read: T =
        serde_json::from_value(message.clone()).unwrap_or_else(|e| panic!("{e}: {message}"));
    let written = serde_json::to_value(read).unwrap();
    assert!(has(&written, message), "{message} is read as {written}");
}

/// CAL-COM-1: messages to an agent match the protocol's own types, field by field.
#[test]
fn messages_match_the_protocol() {
    for agent in ["gemini", "claude", "codex"] {
        let (received, _, _) = played(asked(), Path::new("/"), &recorded(agent));
        let mut methods = 0;
        for received in &received {
            let params = &received["params"];
            match received["method"].as_str() {
                Some("initialize") => is_understood::<InitializeRequest>(params),
                Some("session/new") => is_understood::<NewSessionRequest>(params),
                Some("session/prompt") => is_understood::<PromptRequest>(params),
                Some(other) => panic!("{other}"),
                None if received["result"]["content"].is_string() => {
                    is_understood::<ReadTextFileResponse>(&received["result"]);
                }
                None if received.get("error").is_some() => {}
                None => is_understood::<RequestPermissionResponse>(&received["result"]),
            }
            methods += usize::from(received["method"].is_string());
        }
        assert_eq!(methods, 3, "{agent}");
    }
    is_understood::<CancelNotification>(&json!({"sessionId": "s"}));
}

/// CAL-COM-1: what real agents say is read as the protocol's own types read it.
#[test]
fn what_agents_say_is_read_as_the_protocol_means_it() {
    fn read<T: DeserializeOwned>(value: &Value) -> T {
        serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}"))
    }
    for agent in ["gemini", "claude", "codex"] {
        let lines = recorded(agent);
        let (mut text, mut answered) = (String::new(), Vec::new());
        for line in lines.lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            if message["method"] == "session/update" {
                let notification: SessionNotification = read(&message["params"]);
                match notification.update {
                    SessionUpdate::AgentMessageChunk(chunk) => {
                        if let ContentBlock::Text(more) = chunk.content {
                            text.push_str(&more.text);
                        }
                    }
                    SessionUpdate::ToolCall(_) => text.clear(),
                    _ => {}
                }
            } else if message.get("result").is_some() {
                answered.push(message["result"].clone());
            }
        }
        let hello: InitializeResponse = read(&answered[0]);
        let opened: NewSessionResponse = read(&answered[1]);
        let ended: PromptResponse = read(&answered[2]);
        assert_eq!(ended.stop_reason, StopReason::EndTurn, "{agent}");
        let (received, events, _) = played(asked(), Path::new("/"), &lines);
        let prompt = received
            .iter()
            .find(|received| received["method"] == "session/prompt");
        let session = &prompt.unwrap()["params"]["sessionId"];
        assert_eq!(*session, opened.session_id.to_string(), "{agent}");
        assert_eq!(text_of(&events), text, "{agent}");
        let (_, found, _) = played(Want::Look, Path::new("/"), &lines);
        let named = hello.agent_info;
        assert!(
            found.contains(&Event::Found {
                version: named.as_ref().map(|named| named.version.clone()),
                offers: named.into_iter().map(|named| named.name).collect(),
                tools: Vec::new(),
            }),
            "{agent}: {found:?}"
        );
    }
}

/// CAL-EXE-1: the handshake asks for no session.
#[test]
fn looking_shakes_hands_and_no_more() {
    let (received, events, ended) = played(Want::Look, Path::new("/"), &recorded("codex"));
    assert!(ended.is_ok());
    assert_eq!(received.len(), 1);
    assert!(events.contains(&Event::Found {
        version: Some("2.6.0".to_owned()),
        offers: vec!["@agentclientprotocol/codex-acp".to_owned()],
        tools: Vec::new(),
    }));
}
