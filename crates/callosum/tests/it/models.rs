//! Models that are asked over HTTP, played by a server that follows a script.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
    time::Duration,
};

use callosum_testkit::{
    TestEnv,
    model::{ModelServer, ScriptFault, ScriptTurn, Usage},
    with_time_enough,
};
use serde_json::Value;

use crate::projects::two_languages;

/// The two protocols, and where their answers come from.
const PROTOCOLS: [&str; 2] = ["openai", "ollama"];

fn register(env: &TestEnv, protocol: &str, endpoint: &str, more: &[&str]) {
    let arguments = [
        "executor",
        "register",
        protocol,
        "--protocol",
        protocol,
        "--endpoint",
        endpoint,
        "--model",
        "scripted-model",
    ];
    env.run(arguments.iter().chain(more)).success();
}

/// A machine that knows one server by both its protocols.
fn with_server() -> (TestEnv, ModelServer) {
    let env = two_languages();
    let server = ModelServer::start();
    for protocol in PROTOCOLS {
        register(&env, protocol, &server.url(), &["--timeout", "30s"]);
    }
    (env, server)
}

/// Delegates to a script without trying again, and gives what was printed.
fn play(env: &TestEnv, executor: &str, turn: ScriptTurn, code: i32) -> Value {
    let prompt = format!("Map it. {}", ScriptTurn::script(&[turn]));
    env.callosum()
        .arguments(["delegate", &prompt, "--executor", executor, "--json"])
        .env("CAL_RETRY_MAX", "0")
        .run()
        .ended_with(code)
        .json()
}

/// CAL-EXE-2: who is asked does not wait for another to answer: this server answers one only once it was
/// asked by both.
#[test]
fn executors_are_shaken_hands_with_beside_one_another() {
    let env = two_languages();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new((Mutex::new(0), Condvar::new()));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let asked = Arc::clone(&asked);
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap();
                // The first two come when they are registered, one after the other.
                let (count, changed) = &*asked;
                let mut count = count.lock().unwrap();
                *count += 1;
                changed.notify_all();
                let patience = Duration::from_mins(2);
                let together = |count: &mut i32| *count == 3;
                let (count, _) = changed
                    .wait_timeout_while(count, patience, together)
                    .unwrap();
                let status = if *count == 3 { "503 Alone" } else { "200 OK" };
                assert!(request[..length].starts_with(b"GET "));
                let models = r#"{"object":"list","data":[{"id":"scripted-model"}]}"#;
                let head = "content-type: application/json\r\nconnection: close";
                let answer = format!(
                    "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {}\r\n\r\n{models}",
                    models.len()
                );
                drop(stream.write_all(answer.as_bytes()));
            });
        }
    });
    for id in ["one", "two"] {
        env.run([
            "executor",
            "register",
            id,
            "--protocol",
            "openai",
            "--endpoint",
            &endpoint,
            "--model",
            "scripted-model",
        ])
        .success();
    }
    let checked = env.run(["executor", "check", "one", "two", "--json"]);
    let checked = checked.success().json();
    let ids: Vec<&Value> = checked["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| &check["id"])
        .collect();
    assert_eq!(ids, ["one", "two"], "{checked}");
}

/// CAL-EXE-2, CAL-COM-1: a model's server is registered, and its answer and tokens are in the ledger.
#[test]
fn a_model_answers_into_the_ledger() {
    let (env, server) = with_server();
    for protocol in PROTOCOLS {
        let turn = ScriptTurn {
            usage: Some(Usage {
                input: 100,
                output: 20,
                cached: 0,
            }),
            pieces: Some(5),
            ..ScriptTurn::text("<think>hm</think>It adds: `mod sum;` [src/main.rs:3].")
        };
        let output = play(&env, protocol, turn, 0);
        assert_eq!(output["summary"], "It adds: `mod sum;` [src/main.rs:3].");
        assert_eq!(output["tokens_used"], 120, "{output}");
        let id = output["task_id"].as_str().unwrap();
        let shown = env.run(["ledger", "show", id, "--json"]).success().json();
        let metadata = shown.pointer("/entry/metadata").unwrap_or(&shown);
        let text = metadata.to_string();
        assert!(text.contains(&format!("reported by {protocol}")), "{text}");
        assert!(text.contains("\"model\":\"scripted-model\""), "{text}");
        assert!(text.contains("\"digest_bytes\""), "{text}");
        assert!(text.contains("\"verified\":1"), "{text}");
    }
    env.run(["ledger", "verify"]).success();
    let asked: Vec<_> = server
        .heard()
        .into_iter()
        .filter(|heard| heard.method == "POST")
        .collect();
    assert_eq!(asked.len(), 2);
    for heard in &asked {
        assert!(heard.streamed);
        assert!(!heard.authorized);
        let prompt = heard.body["messages"][0]["content"].as_str().unwrap();
        // A model that can open no file is shown the digest, and lines that it can quote.
        assert!(
            prompt.contains("## What a survey of the tree found"),
            "{prompt}"
        );
        assert!(prompt.contains("3: mod sum;"), "{prompt}");
        assert!(!prompt.contains("Open each file"), "{prompt}");
    }
    assert_eq!(asked[1].body["options"]["num_ctx"], 16_384);
}

/// CAL-ERR-1, CAL-ERR-2, CAL-ERR-3: each way of failing has its code and its cause in words.
#[test]
fn a_model_that_fails_is_told_with_code_and_cause() {
    let (env, _server) = with_server();
    let fault = |fault: ScriptFault, text: &str| ScriptTurn {
        fault: Some(fault),
        ..ScriptTurn::text(text)
    };
    let cases = [
        (
            fault(ScriptFault::Unauthorized, "bad key"),
            "E001",
            "is not logged in",
        ),
        (
            ScriptTurn {
                retry_after: Some(20),
                ..fault(ScriptFault::RateLimit, "slow down")
            },
            "E002",
            "which is lifted in 20 s",
        ),
        (fault(ScriptFault::Overloaded, "busy"), "E002", "overloaded"),
        (
            fault(ScriptFault::ServerError, "oops"),
            "E002",
            "status 500",
        ),
        (
            fault(ScriptFault::PromptTooLong, "prompt is too long"),
            "E003",
            "rejected the prompt as too long",
        ),
        (
            ScriptTurn {
                cut: true,
                ..ScriptTurn::text("one two three four")
            },
            "E003",
            "was cut off in the middle of its answer",
        ),
        (
            ScriptTurn {
                raw: Some("<html>Welcome</html>".to_owned()),
                ..ScriptTurn::default()
            },
            "E003",
            "received an invalid answer from its server",
        ),
        (ScriptTurn::default(), "E003", "without an answer"),
        (
            ScriptTurn {
                repeat: Some(5 * 1024),
                pieces: Some(64),
                ..ScriptTurn::text("x".repeat(1024))
            },
            "E006",
            "more than 4194304 bytes",
        ),
    ];
    for protocol in PROTOCOLS {
        for (turn, code, says) in &cases {
            // Whoever asks by hand and is answered closes the circuit that the last failure opened.
            env.run(["executor", "check", protocol]).success();
            let output = play(&env, protocol, turn.clone(), 1);
            assert_eq!(output["error"]["code"], *code, "{protocol}: {output}");
            let message = output["error"]["message"].as_str().unwrap();
            assert!(message.contains(says), "{protocol}: {message}");
            assert!(!message.contains("try again in"), "{protocol}: {message}");
        }
    }
}

/// CAL-ERR-2: a limit that is lifted soon is waited for, and the question asked again; the answer
/// does not know of it.
#[test]
fn a_limit_that_is_lifted_soon_is_waited_for() {
    let (env, server) = with_server();
    for (protocol, fault) in [
        ("openai", ScriptFault::RateLimit),
        ("ollama", ScriptFault::Overloaded),
    ] {
        let before = server.heard().len();
        let limited = ScriptTurn {
            fault: Some(fault),
            retry_after: Some(1),
            times: Some(1),
            ..ScriptTurn::text("It adds numbers.")
        };
        let prompt = format!("Map it. {}", ScriptTurn::script(&[limited]));
        let run = env
            .callosum()
            .arguments(["delegate", &prompt, "--executor", protocol, "--json"])
            .env("CAL_RETRY_MAX", "1")
            .run()
            .success();
        assert!(run.stderr.contains("waits 1 s: "), "{}", run.stderr);
        let output = run.json();
        assert_eq!(output["summary"], "It adds numbers.");
        let id = output["task_id"].as_str().unwrap();
        let records = env
            .run(["audit", "query", "--task", id, "--event", "retry", "--json"])
            .success()
            .json();
        assert_eq!(records["records"][0]["status"], "waiting", "{records}");
        assert_eq!(records["records"].as_array().unwrap().len(), 1);
        let asked = server.heard().into_iter().skip(before);
        let asked = asked.filter(|heard| heard.method == "POST").count();
        assert_eq!(asked, 2, "{protocol}");
    }
    // Whoever wants no further tries does not wait either.
    let limited = ScriptTurn {
        fault: Some(ScriptFault::RateLimit),
        retry_after: Some(1),
        ..ScriptTurn::default()
    };
    let output = play(&env, "openai", limited, 1);
    assert_eq!(output["error"]["code"], "E002", "{output}");
}

/// What is kept of an answer that broke off, as the error's details name it.
fn part_of(env: &TestEnv, output: &Value) -> String {
    let details = output["error"]["details"].as_str().unwrap_or_default();
    let (_, hash) = details
        .split_once("the partial answer is stored as ")
        .unwrap_or_else(|| panic!("{output}"));
    env.read(format!(".cal_answers/{}/{}", &hash[..2], &hash[2..64]))
}

/// CAL-COM-2: silence in the middle of a stream has a limit, and slowness has none.
#[test]
fn a_stream_that_falls_silent_is_ended_and_kept_and_a_slow_one_is_not() {
    let env = two_languages();
    let server = ModelServer::start();
    register(&env, "openai", &server.url(), &["--idle-timeout", "5s"]);
    let silent = ScriptTurn {
        stall_ms: 60_000,
        ..ScriptTurn::text("one two")
    };
    let output = play(&env, "openai", silent, 1);
    assert_eq!(output["error"]["code"], "E002", "{output}");
    assert_eq!(part_of(&env, &output), "one");
    let slow = ScriptTurn {
        drip_ms: 500,
        pieces: Some(12),
        ..ScriptTurn::text("slowly but surely it says what it has to say")
    };
    let output = play(&env, "openai", slow, 0);
    assert_eq!(
        output["summary"],
        "slowly but surely it says what it has to say"
    );
}

/// CAL-COM-2: at the deadline the connection is closed, so that a model does not go on for nobody.
#[test]
fn the_connection_ends_with_the_deadline() {
    let env = two_languages();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let list = br#"{"data":[{"id":"scripted-model"}]}"#;
    let (tell, asked) = mpsc::channel();
    let server = thread::spawn(move || {
        loop {
            let (mut client, _) = listener.accept().unwrap();
            let mut head = [0; 4096];
            let count = client.read(&mut head).unwrap();
            let length = list.len();
            if head[..count].starts_with(b"GET ") {
                write!(
                    client,
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n"
                )
                .unwrap();
                client.write_all(list).unwrap();
                continue;
            }
            client
                .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n: x\r\n")
                .unwrap();
            tell.send(()).unwrap();
            // Returns when the other end is closed, by whatever is said first.
            let mut rest = Vec::new();
            drop(client.read_to_end(&mut rest));
            return;
        }
    });
    with_time_enough(|milliseconds| {
        let total = ["--timeout", &format!("{milliseconds}ms")];
        register(&env, "openai", &endpoint, &total);
        let run = env.callosum();
        let run = run.arguments(["delegate", "Map it.", "--executor", "openai", "--json"]);
        let output = run.env("CAL_RETRY_MAX", "0").run().ended_with(1).json();
        assert_eq!(output["error"]["code"], "E002", "{output}");
        let soon = Duration::from_millis(milliseconds);
        asked.recv_timeout(soon).ok()
    });
    server.join().unwrap();
}

/// LOA-SEC-1: the key comes from the variable that the entry names, reaches the server, and stands
/// nowhere else.
#[test]
fn a_key_reaches_the_server_and_nothing_else() {
    let env = two_languages();
    let server = ModelServer::start();
    let canary = "sesame-open-4711-canary";
    let register = [
        "executor",
        "register",
        "openai",
        "--endpoint",
        &server.url(),
        "--model",
        "scripted-model",
        "--api-key-env",
        "MY_MODEL_KEY",
    ];
    let without = env.run(register).ended_with(1);
    assert!(
        without
            .stderr
            .contains("missing environment variable MY_MODEL_KEY"),
        "{}",
        without.stderr
    );
    let run = |arguments: &[&str]| {
        let run = env.callosum().arguments(arguments);
        run.env("MY_MODEL_KEY", canary)
            .env("CAL_RETRY_MAX", "0")
            .run()
    };
    run(&["executor", "check", "openai"]).success();
    // No wait would bring a key that is not set.
    let unset = env.run(["delegate", "x", "--executor", "openai"]);
    let unset = unset.ended_with(1).stderr;
    assert!(
        unset.contains("the variable MY_MODEL_KEY to a valid key"),
        "{unset}"
    );
    assert!(!unset.contains("retrying in"), "{unset}");
    run(&["executor", "check", "openai"]).success();
    let said = ScriptTurn::script(&[ScriptTurn::text("fine")]);
    run(&["delegate", &said, "--executor", "openai"]).success();
    assert!(server.heard().iter().all(|heard| heard.authorized));
    let refused = ScriptTurn::script(&[ScriptTurn {
        fault: Some(ScriptFault::Unauthorized),
        ..ScriptTurn::text(format!("the key {canary} is not known"))
    }]);
    // The script itself would hold the key; the server says it by another way.
    let refused = refused.replace(canary, "sesame-open-4711-\\u0063anary");
    let output = run(&["delegate", &refused, "--executor", "openai"]).ended_with(1);
    assert!(output.stderr.contains("[key]"), "{}", output.stderr);
    assert!(!output.stderr.contains(canary), "{}", output.stderr);
    let found = env.program("/bin/grep".into());
    let folder = env.folder();
    let found = found
        .arguments(["-rl", canary, &folder.to_string_lossy()])
        .run();
    assert_eq!(found.stdout, "");
}

/// LOA-SEC-1: an entry that would send a key in the clear, or keep one in the file, is refused.
#[test]
fn an_endpoint_that_would_show_a_key_is_refused() {
    let env = two_languages();
    for (endpoint, says) in [
        (
            "http://models.example.org/v1",
            "a key is only sent over https",
        ),
        (
            "https://me:secret@models.example.org",
            "a user, a query or a fragment",
        ),
        ("models.example.org", "is not a URL"),
    ] {
        let register = [
            "executor",
            "register",
            "m",
            "--endpoint",
            endpoint,
            "--model",
            "x",
        ];
        let refused = env
            .run(register.iter().chain(&["--api-key-env", "K"]))
            .ended_with(2);
        assert!(refused.stderr.contains(says), "{}", refused.stderr);
    }
}

/// CAL-EXE-1: the line that is shown where a server wants a key is taken as it is, and what a line does not say of the
/// question stays: the model, the address and the protocol.
#[test]
fn a_servers_entry_keeps_what_a_line_does_not_say() {
    let env = two_languages();
    let server = ModelServer::start();
    register(
        &env,
        "ollama",
        &server.url(),
        &["--context-tokens", "32768"],
    );
    let entry = || {
        let registry: Value = serde_json::from_str(&env.read("registry.json")).unwrap();
        let all = registry["executors"].as_array().unwrap();
        all.iter()
            .find(|one| one["id"] == "ollama")
            .unwrap()
            .clone()
    };
    let refused = play(
        &env,
        "ollama",
        ScriptTurn {
            fault: Some(ScriptFault::Unauthorized),
            ..ScriptTurn::text("who is it")
        },
        1,
    );
    let shown = "callosum executor register ollama --api-key-env NAME";
    assert!(refused.to_string().contains(shown), "{refused}");
    let run = |arguments: &[&str]| {
        let run = env.callosum().arguments(["executor", "register", "ollama"]);
        run.arguments(arguments).env("MY_KEY", "sesame").run()
    };
    run(&["--api-key-env", "MY_KEY"]).success();
    let before = entry();
    assert_eq!(before["protocol"], "ollama");
    assert_eq!(before["context_tokens"], 32768);

    // The same question in other words is no other one.
    let same = ["--endpoint", &server.url(), "--model", "scripted-model"];
    run(&same).success();
    assert_eq!(entry(), before);

    // Somewhere else nothing is granted unasked; the line that grants it is whole.
    let other = ModelServer::start();
    let refused = run(&["--endpoint", &other.url()]).ended_with(2).stderr;
    let whole = format!(
        "--endpoint {} --model scripted-model --api-key-env MY_KEY --context-tokens 32768 --protocol ollama",
        other.url()
    );
    assert!(refused.contains(&whole), "{refused}");
    assert_eq!(entry(), before);
    let words: Vec<&str> = whole.split(' ').collect();
    run(&words).success();
    assert_eq!(entry()["protocol"], "ollama");

    // Another protocol is a thing to be said.
    let mut words = words;
    *words.last_mut().unwrap() = "openai";
    let told = run(&words).success().stderr;
    assert!(told.contains("now uses the protocol openai"), "{told}");
    assert_eq!(entry()["protocol"], "openai");

    // A program takes no key and no count of tokens: a line with them would be refused.
    let told = run(&["--command", "true"]).ended_with(1).stderr;
    let left = "not kept from the entry of ollama: --api-key-env MY_KEY --context-tokens 32768";
    assert!(told.contains(left), "{told}");
}

/// REQ-EXE-003: a server that is away, or has no such model, leaves its executor inactive.
#[test]
fn a_server_without_the_model_or_away_is_inactive() {
    let env = two_languages();
    let server = ModelServer::start();
    let url = server.url();
    let register = ["executor", "register", "m", "--endpoint", &url, "--model"];
    let other = env.run(register.iter().chain(&["other"])).ended_with(1);
    assert!(
        other
            .stderr
            .contains("does not offer `other`, but `scripted-model`"),
        "{}",
        other.stderr
    );
    env.run(register.iter().chain(&["scripted-model"]))
        .success();
    drop(server);
    let away = env
        .run(["executor", "check", "m", "--json"])
        .ended_with(1)
        .json();
    assert_eq!(away["checks"][0]["status"], "inactive");
    let reason = away["checks"][0]["steps"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot reach its server"), "{reason}");
}

/// CAL-SEC-1: a cloned registry cannot send the tree to a server that nobody here has allowed.
#[test]
fn a_servers_address_is_part_of_what_is_trusted() {
    let (env, _server) = with_server();
    let other = ModelServer::start();
    let registry = env.read("registry.json");
    let mut registry: Value = serde_json::from_str(&registry).unwrap();
    for executor in registry["executors"].as_array_mut().unwrap() {
        if executor["id"] == "openai" {
            executor["endpoint"] = other.url().into();
        }
    }
    env.write("registry.json", registry.to_string());
    let refused = env
        .run(["delegate", "x", "--executor", "openai"])
        .ended_with(3);
    assert!(
        refused.stderr.contains("comes with the repository"),
        "{}",
        refused.stderr
    );
    assert!(other.heard().is_empty());
    let waiting = env.run(["trust", "--list"]);
    assert!(waiting.stdout.contains(&other.url()), "{}", waiting.stdout);
}

/// CAL-EXE-2: a build that asks no hosted providers says so, and how to make one that does.
#[cfg(not(feature = "hosted"))]
#[test]
fn a_build_without_hosted_providers_says_so() {
    let env = two_languages();
    let register = ["executor", "register", "opus", "--protocol", "hosted"];
    let model = ["--model", "anthropic::opus", "--api-key-env", "MODEL_KEY"];
    let refused = env.run(register.iter().chain(&model)).ended_with(2);
    assert!(
        refused
            .stderr
            .contains("cargo build --release --features hosted"),
        "{}",
        refused.stderr
    );
}

/// A model has to be somewhere.
#[test]
fn a_model_without_a_place_is_no_executor() {
    let env = two_languages();
    let nowhere = env.run(["executor", "register", "m", "--model", "x"]);
    let nowhere = nowhere.ended_with(2);
    assert!(nowhere.stderr.contains("--endpoint"), "{}", nowhere.stderr);
}
