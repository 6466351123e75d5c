//! The model server over real connections: each dialect, whole and streamed, and each fault.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests fail as the tests themselves do"
)]

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use callosum_testkit::{
    TestEnv, fakes,
    model::{Call, ModelServer, Options, ScriptFault, ScriptTurn, Usage},
};
use serde_json::{Value, json};

/// The path of each dialect, whether its request streams, and its request for a prompt.
const PATHS: [&str; 5] = [
    "/v1/messages?beta=true",
    "/v1/responses",
    "/v1/chat/completions",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    "/api/chat",
];

fn request(path: &str, prompt: &str, stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": prompt}]);
    if path.contains("GenerateContent") || path.contains("generateContent") {
        return json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]});
    }
    if path.ends_with("/responses") {
        return json!({"model": "m", "stream": stream, "input": messages});
    }
    json!({"model": "m", "stream": stream, "messages": messages})
}

/// Asks, and returns all that came until the connection ended.
fn ask(server: &ModelServer, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nx-api-key: k\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    exchange(server, &(head + &body))
}

fn exchange(server: &ModelServer, text: &str) -> String {
    let address = server.url().replace("http://", "");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn status(answer: &str) -> &str {
    &answer[9..12]
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

/// Returns the joined texts of a stream's events, under the names of any dialect.
fn text(stream: &str) -> String {
    let mut text = String::new();
    for line in stream.lines() {
        let line = line.strip_prefix("data: ").unwrap_or(line);
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let places = [
            "/delta/text",
            "/choices/0/delta/content",
            "/candidates/0/content/parts/0/text",
            "/message/content",
        ];
        let found = places
            .iter()
            .find_map(|place| event.pointer(place)?.as_str());
        text += found
            .or_else(|| event["delta"].as_str())
            .unwrap_or_default();
    }
    text
}

#[test]
fn every_dialect_streams_the_text_and_its_tokens() {
    let server = ModelServer::start();
    let turn = ScriptTurn {
        usage: Some(Usage {
            input: 4321,
            output: 765,
            cached: 21,
        }),
        pieces: Some(5),
        ..ScriptTurn::text("two words, \"quoted\"\nand a line")
    };
    let prompt = format!("Look. {}", ScriptTurn::script(std::slice::from_ref(&turn)));
    for path in PATHS {
        let answer = ask(&server, path, &request(path, &prompt, true));
        assert_eq!(status(&answer), "200", "{answer}");
        assert_eq!(text(&answer), turn.text, "{path}\n{answer}");
        assert!(answer.contains("765"), "{path}\n{answer}");
        assert!(answer.ends_with("0\r\n\r\n"), "{path}");
        // Anthropic counts tokens from a cache separately.
        let read = if path.contains("messages") {
            "4300"
        } else {
            "4321"
        };
        assert!(answer.contains(read), "{path}\n{answer}");
    }
    let heard = server.heard();
    assert_eq!(heard.len(), PATHS.len());
    assert!(
        heard
            .iter()
            .all(|heard| heard.streamed && heard.authorized && heard.model == "m")
    );
    let keys = heard.iter().flat_map(|heard| &heard.headers);
    assert!(keys.clone().all(|(name, _)| name != "x-api-key"));
}

#[test]
fn every_dialect_answers_whole_where_no_stream_is_asked_for() {
    let server = ModelServer::start();
    let prompt = ScriptTurn::script(&[ScriptTurn {
        calls: vec![Call {
            name: "look".into(),
            input: json!({"at": "x"}),
            ..Call::default()
        }],
        ..ScriptTurn::text("done")
    }]);
    for path in PATHS {
        let path = path.replace("streamGenerateContent?alt=sse", "generateContent");
        let answer = ask(&server, &path, &request(&path, &prompt, false));
        let value: Value = serde_json::from_str(body(&answer)).unwrap();
        let printed = value.to_string();
        assert!(printed.contains("\"done\""), "{path} {printed}");
        assert!(printed.contains("\"look\""), "{path} {printed}");
    }
}

#[test]
fn a_script_continues_at_the_turn_of_the_conversation() {
    let server = ModelServer::start();
    let script = ScriptTurn::script(&[ScriptTurn::text("one"), ScriptTurn::text("two")]);
    let body = json!({"model": "m", "messages": [
        {"role": "user", "content": script},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "y"}]},
    ]});
    assert!(ask(&server, "/v1/messages", &body).contains("\"two\""));
    assert_eq!(server.heard()[0].turn, Some(1));
}

#[test]
fn every_fault_is_refused_as_the_service_does() {
    let server = ModelServer::start();
    let check = |path: &str, fault: ScriptFault, expected: &str, words: &str| {
        let turn = ScriptTurn {
            fault: Some(fault),
            retry_after: Some(7),
            ..ScriptTurn::default()
        };
        let prompt = ScriptTurn::script(&[turn]);
        let answer = ask(&server, path, &request(path, &prompt, true));
        assert_eq!(status(&answer), expected, "{path} {fault:?}");
        assert!(answer.contains(words), "{path} {fault:?}\n{answer}");
        assert!(answer.contains("retry-after: 7\r\n"), "{answer}");
    };
    for path in PATHS {
        check(path, ScriptFault::Unauthorized, "401", "error");
        check(path, ScriptFault::RateLimit, "429", "error");
        check(path, ScriptFault::ServerError, "500", "error");
        check(path, ScriptFault::PromptTooLong, "400", "error");
    }
    check(PATHS[0], ScriptFault::Overloaded, "529", "overloaded_error");
    check(
        PATHS[1],
        ScriptFault::Overloaded,
        "503",
        "server_is_overloaded",
    );
    check(PATHS[3], ScriptFault::Overloaded, "503", "UNAVAILABLE");
    check(
        PATHS[0],
        ScriptFault::PromptTooLong,
        "400",
        "prompt is too long",
    );
    check(
        PATHS[2],
        ScriptFault::PromptTooLong,
        "400",
        "context_length_exceeded",
    );
    assert_eq!(server.heard().last().map(|heard| heard.status), Some(400));
}

#[test]
fn a_fault_with_times_is_followed_by_the_answer() {
    let server = ModelServer::start();
    let turn = ScriptTurn {
        fault: Some(ScriptFault::RateLimit),
        times: Some(1),
        ..ScriptTurn::text("after all")
    };
    let body = request(PATHS[2], &ScriptTurn::script(&[turn]), false);
    assert_eq!(status(&ask(&server, PATHS[2], &body)), "429");
    assert!(ask(&server, PATHS[2], &body).contains("after all"));
}

#[test]
fn a_cut_stream_has_the_first_half_and_no_end() {
    let server = ModelServer::start();
    let turn = ScriptTurn {
        cut: true,
        ..ScriptTurn::text("abcdef")
    };
    let prompt = ScriptTurn::script(&[turn]);
    for path in PATHS {
        let answer = ask(&server, path, &request(path, &prompt, true));
        assert_eq!(text(&answer), "abc", "{path}\n{answer}");
        assert!(!answer.ends_with("0\r\n\r\n"), "{path}");
    }
}

#[test]
fn a_script_that_cannot_be_read_is_refused_with_what_is_wrong() {
    let server = ModelServer::start();
    let body = request(PATHS[0], "SCRIPT:[{\"txt\":\"x\"}]", true);
    let answer = ask(&server, PATHS[0], &body);
    assert_eq!(status(&answer), "400");
    assert!(answer.contains("unknown field `txt`"), "{answer}");
    let garbage = "POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\n\r\n{x}";
    assert_eq!(status(&exchange(&server, garbage)), "400");
}

#[test]
fn what_clients_ask_beside_answers_is_answered() {
    let server = ModelServer::with(Options {
        models: vec!["a-model".into()],
        ..Options::default()
    })
    .unwrap();
    for (path, expected) in [
        ("/v1/models", "a-model"),
        ("/api/tags", "a-model"),
        ("/api/version", "version"),
        ("/", "ok"),
    ] {
        let answer = exchange(&server, &format!("GET {path} HTTP/1.1\r\n\r\n"));
        assert_eq!(status(&answer), "200");
        assert!(body(&answer).contains(expected), "{path} {answer}");
    }
    let answer = exchange(&server, "GET /nothing HTTP/1.1\r\n\r\n");
    assert_eq!(status(&answer), "404");
    assert_eq!(
        exchange(&server, "HEAD / HTTP/1.1\r\n\r\n")
            .split("\r\n\r\n")
            .nth(1),
        Some("")
    );
}

#[test]
fn a_server_that_was_dropped_listens_no_more() {
    let server = ModelServer::start();
    let address = server.url().replace("http://", "");
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn the_program_says_how_it_is_used() {
    let wrong = TestEnv::new()
        .program(fakes::program("model-server"))
        .arguments(["--prot", "1"])
        .run()
        .ended_with(2);
    assert!(wrong.stderr.starts_with("usage: model-server"));
}
