//! Events over HTTP: handed in, read, and followed.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::{
    event::Draft,
    journal::{Durability, Journal},
};
use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use super::{
    bus::Client,
    daemon::{Daemon, event, post},
};

/// The log, as another process has it.
fn journal(env: &TestEnv) -> Journal {
    let start = "2026-03-09T10:00:00Z".parse().unwrap();
    let clock = Clock::fixed(start, Duration::from_millis(1));
    let folder = env.machine_home().join("mesh");
    Journal::open(&Disk::real(), &clock, &Ids::random(), &folder, "other").unwrap()
}

fn append(journal: &mut Journal, number: usize) {
    let draft: Value = serde_json::from_str(&event("agent.step", number)).unwrap();
    let mut turn = journal.turn().unwrap();
    turn.append(vec![Draft::read(&draft).unwrap()]).unwrap();
    turn.end(Durability::Logged).unwrap();
}

/// CALC-L1-1: every acknowledgement says what it is worth.
#[test]
fn what_is_handed_in_is_acknowledged_with_what_that_is_worth() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    for (query, durability, seq) in [
        ("", "logged", json!(1)),
        ("?durability=synced", "synced", json!(2)),
        ("?durability=ephemeral", "ephemeral", Value::Null),
        ("?durability=logged", "logged", json!(3)),
    ] {
        let ack = daemon.post(query, &event("a.b", 1)).with(200).json();
        assert_eq!(ack["durability"], durability);
        assert_eq!(ack["seq"], seq, "{durability}");
        assert_eq!(ack["origin"], daemon.serving["origin"]);
        assert!(ack["id"].as_str().is_some_and(|id| !id.is_empty()));
    }
    let list = format!("[{},{}]", event("a.b", 4), event("a.c", 5));
    let acks = daemon.post("?durability=synced", &list).with(200).json();
    assert_eq!((&acks[0]["seq"], &acks[1]["seq"]), (&json!(4), &json!(5)));
    let one = daemon
        .post("", &format!("[{}]", event("a.b", 6)))
        .with(200)
        .json();
    assert_eq!(one[0]["seq"], 6);
    let found = daemon.get("events", "/events?topic=a.c").with(200).json();
    assert_eq!(found["events"][0]["payload"]["number"], 5);
    assert_eq!(found["events"].as_array().unwrap().len(), 1);
}

/// CALC-L1-1: what is handed in twice under its author's id is one event, by HTTP, by the bus and by the verb; another under
/// the same id is refused, and costs no other.
#[test]
fn the_same_id_twice_is_one_event() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let said = |topic: &str, payload: Value| {
        json!({"type": topic, "source": "codex", "id": "x-1", "payload": payload}).to_string()
    };
    let body = said("a.b", json!({"n": 1, "m": 2}));
    let first = daemon.post("", &body).with(200).json();
    let again = daemon.post("?durability=synced", &body).with(200).json();
    assert_eq!((&again["seq"], &again["id"]), (&first["seq"], &first["id"]));
    let turned = said("a.b", json!({"m": 2, "n": 1}));
    let mut bus = Client::connect(&daemon);
    let same: Value = serde_json::from_str(&turned).unwrap();
    let ack = bus.asked(json!({"op": "publish", "event": same}));
    assert_eq!(ack["acks"][0]["seq"], first["seq"], "{ack}");
    for other in [
        said("a.b", json!({"n": 2})),
        said("a.c", json!({"n": 1, "m": 2})),
    ] {
        let refused = daemon.post("", &other).with(409).json();
        let words = refused["error"].as_str().unwrap();
        assert!(
            words.contains("`x-1` is already the id of another event of codex"),
            "{words}"
        );
    }
    let publish = |payload: &str| {
        env.run([
            "mesh",
            "publish",
            "a.b",
            "--as",
            "codex",
            "--id",
            "x-1",
            "--payload",
            payload,
            "--json",
        ])
    };
    let told = publish("{\"n\": 1, \"m\": 2}").success().json();
    assert_eq!(
        (&told["repeated"], &told["event"]["seq"]),
        (&json!(true), &first["seq"])
    );
    let refused = publish("{\"n\": 3}").ended_with(1);
    assert!(
        refused.stderr.contains("another event of codex"),
        "{}",
        refused.stderr
    );
    // A task too, also once it is done.
    let task = json!({
        "type": "calc.task_handoff", "source": "codex", "id": "x-2", "payload": {"prompt": "count", "severity": 3},
    })
    .to_string();
    let left = daemon.post("", &task).with(200).json();
    env.run(["mesh", "task", "claim", "x-2", "--as", "gemini"])
        .success();
    env.run(["mesh", "task", "done", "x-2", "--as", "gemini"])
        .success();
    assert_eq!(daemon.post("", &task).with(200).json()["seq"], left["seq"]);
    let found = daemon
        .get("events", "/events?topic=calc.task_handoff")
        .with(200)
        .json();
    assert_eq!(found["events"].as_array().unwrap().len(), 1);
    assert_eq!(found["events"][0]["payload"]["other"]["severity"], 3);
    let list = format!(
        "[{},{}]",
        event("a.b", 7),
        json!({"type": "calc.message", "source": "codex", "payload": {"to": 7}})
    );
    let refused = daemon.post("", &list).with(400).json();
    assert_eq!(refused["faults"][0]["index"], 1, "{refused}");
    assert_eq!(
        daemon.get("events", "/events?topic=a.*").with(200).json()["events"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// CALC-L1-1: what is wrong is named, all of it, and nothing is kept of it.
#[test]
fn every_fault_is_named_and_nothing_is_kept() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let body = format!("[{},{{\"type\":\"a b\",\"extra\":1}}]", event("a.b", 1));
    let refused = daemon.post("", &body).with(400).json();
    let keys: Vec<_> = refused["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| {
            assert_eq!(fault["index"], 1);
            fault["key"].as_str().unwrap()
        })
        .collect();
    assert_eq!(keys, ["type", "source", "extra"]);
    for body in ["", "{", "[]", "7", "null", "[[]]"] {
        daemon.post("", body).with(400);
    }
    let deep = "[".repeat(100_000);
    daemon.post("", &deep).with(400);
    daemon.post("?durability=forever", &event("a", 1)).with(400);
    daemon.post("?durabilty=synced", &event("a", 1)).with(400);
    let secret = r#"{"type":"a","source":"codex","payload":{"note":"AKIAIOSFODNN7EXAMPLE"}}"#;
    daemon.post("", secret).with(200);
    let found = daemon.get("events", "/events").with(200);
    assert_eq!(found.json()["events"].as_array().unwrap().len(), 1);
    assert!(!found.body.contains("AKIAIOSFODNN7EXAMPLE"));
}

/// CALC-SEC-1: rates are bounded for each connection, whatever sources its events name and however often it is made again.
#[test]
fn a_connection_that_hands_in_too_many_events_is_refused() {
    let env = TestEnv::new();
    let daemon = Daemon::with(&env, &["--rate", "1"]);
    let connect = || {
        let stream = TcpStream::connect(daemon.at("events")).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        stream
    };
    let request = |source: &str, count: usize, connection: &str| {
        let event = format!(r#"{{"type":"a","source":"{source}","payload":{{}}}}"#);
        let body = format!("[{}]", vec![event; count].join(","));
        format!(
            "POST /events HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let statuses = |mut stream: TcpStream, requests: &str| -> Vec<String> {
        stream.write_all(requests.as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let answers = text.split("HTTP/1.1 ").skip(1);
        answers.map(|answer| answer[..3].to_owned()).collect()
    };
    let other = connect();
    let both = request("codex", 600, "keep-alive") + &request("gemini", 1, "close");
    assert_eq!(statuses(connect(), &both), ["200", "429"]);
    let again = daemon.post("", r#"{"type":"a","source":"reviewer"}"#);
    assert_eq!(again.status, 429);
    let wait: u64 = again.headers["retry-after"].parse().unwrap();
    assert!(wait > 60, "{wait}");
    assert_eq!(statuses(other, &request("codex", 1, "close")), ["200"]);
}

/// CALC-SEC-1: bodies are bounded.
#[test]
fn what_is_too_long_is_refused() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let long = format!(
        r#"{{"type":"a","source":"x","payload":{{"t":"{}"}}}}"#,
        "x".repeat(70_000)
    );
    daemon.post("", &long).with(413);
    let many = format!("[{}]", vec![event("a", 1); 1001].join(","));
    daemon.post("", &many).with(413);
    let length = 1024 * 1024 + 1;
    let head = format!(
        "POST /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    super::daemon::ask(daemon.at("events"), &head).with(413);
    let list = format!("[{}]", vec![event("a", 1); 600].join(","));
    daemon.post("", &list).with(200);
}

/// CALC-L1-1: cursors, patterns and a bound, as JSON or line by line.
#[test]
fn the_log_is_read_from_a_cursor() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let list: Vec<_> = (0..200)
        .map(|number| {
            event(
                if number % 2 == 0 {
                    "calc.even"
                } else {
                    "calc.odd"
                },
                number,
            )
        })
        .collect();
    daemon.post("", &format!("[{}]", list.join(","))).with(200);
    let first = daemon
        .get("events", "/events?topic=*.odd&limit=2")
        .with(200)
        .json();
    let numbers = |found: &Value| -> Vec<u64> {
        let events = found["events"].as_array().unwrap();
        events
            .iter()
            .map(|event| event["payload"]["number"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(numbers(&first), [1, 3]);
    assert_eq!(first["is_end"], false);
    let mut cursor = first["cursor"].as_str().unwrap().to_owned();
    let mut all = numbers(&first);
    loop {
        let path = format!("/events?topic=calc.odd&since={cursor}");
        let next = daemon.get("events", &path).with(200).json();
        all.extend(numbers(&next));
        next["cursor"].as_str().unwrap().clone_into(&mut cursor);
        if next["is_end"] == true {
            break;
        }
    }
    assert_eq!(
        all,
        (0..100).map(|number| number * 2 + 1).collect::<Vec<_>>()
    );
    let foreign = daemon
        .get("events", "/events?since=another:5&limit=1")
        .with(200)
        .json();
    assert_eq!(foreign["notices"][0]["kind"], "reset");
    assert_eq!(numbers(&foreign), [0]);
    let address = daemon.at("events");
    let lines = super::daemon::ask(
        address,
        "GET /events?since=198 HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(lines.with(200).body.lines().count(), 2);
    daemon.get("events", "/events?since=x").with(400);
    daemon.get("events", "/nothing").with(404);
    daemon.get("events", "/metrics").with(404);
}

/// CALC-L1-1: a place past the end of the log is told to nobody as theirs: who came back with it would miss what comes before.
#[test]
fn a_cursor_past_the_end_is_not_told_back() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    daemon.post("", &event("a.b", 1)).with(200);
    let origin = daemon.serving["origin"].as_str().unwrap().to_owned();
    let past = format!("{origin}:4711");
    let mut stream = daemon.stream(&format!("?since={past}"), "");
    let told = stream.next();
    assert_eq!(told.name, "reset");
    assert_ne!(told.id, past);
    let told = stream.next();
    assert_eq!(told.id, format!("{origin}:1"));
    let found = daemon.get("events", &format!("/events?since={past}"));
    let found = found.with(200).json();
    assert_eq!(found["notices"][0]["kind"], "reset");
    assert_eq!(found["cursor"], format!("{origin}:1"));
}

/// CALC-SEC-1: what is asked for and not taken costs the daemon little, however many ask.
#[test]
#[cfg(target_os = "linux")]
fn answers_that_nobody_takes_cost_little_memory() {
    use std::io::{Read as _, Write as _};

    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let text = "x".repeat(60_000);
    let long = |number: usize| {
        format!(
            r#"{{"type":"a","source":"s{number}","payload":{{"number":{number},"text":"{text}"}}}}"#
        )
    };
    for list in 0..4 {
        let list: Vec<_> = (list * 16..(list + 1) * 16).map(long).collect();
        daemon.post("", &format!("[{}]", list.join(","))).with(200);
    }
    let resident = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let words = line.and_then(|line| line.split_whitespace().next());
        words.unwrap().parse::<u64>().unwrap() / 1024
    };
    let read = daemon.get("events", "/events?limit=1000").with(200).json();
    assert_eq!(read["events"].as_array().unwrap().len(), 64);
    assert_eq!(read["events"][63]["payload"]["number"], 63);
    let before = resident();
    let asking: Vec<_> = (0..24)
        .map(|_| {
            let mut stream = with_little_room(daemon.at("events"));
            let request = "GET /events?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    // What is short is answered beside them, and what is long after them.
    for _ in 0..20 {
        daemon.get("events", "/events?limit=1").with(200);
    }
    let read = daemon.get("events", "/events?limit=1000").with(200).json();
    assert_eq!(read["events"].as_array().unwrap().len(), 64);
    let grown = resident().saturating_sub(before);
    // 90 MiB were asked for.
    assert!(grown < 8, "{grown} MiB more than {before}");
    // Sixteen are answered at a time: some had to give up their places, and know it. The first of them is enough: to read what
    // others were left, through so little room, takes seconds each.
    let is_cut = |mut stream: std::net::TcpStream| {
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        let mut rest = Vec::new();
        let mut block = vec![0; 64 * 1024];
        while !rest.ends_with(b"\r\n0\r\n\r\n") {
            match stream.read(&mut block) {
                Ok(count) if count > 0 => rest.extend_from_slice(&block[..count]),
                _ => return true,
            }
        }
        false
    };
    assert!(asking.into_iter().any(is_cut));
}

/// A connection for which the system holds little that was not read.
#[cfg(target_os = "linux")]
fn with_little_room(address: &str) -> std::net::TcpStream {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(address.parse().unwrap()).await.unwrap()
    });
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
}

/// CALC-L1-1: from what was to what is without a gap, whoever appends.
#[test]
fn a_stream_goes_from_what_was_to_what_is_without_a_gap() {
    let env = TestEnv::new();
    let mut other = journal(&env);
    for number in 0..150 {
        append(&mut other, number);
    }
    let daemon = Daemon::start(&env);
    let mut stream = daemon.stream("?since=0", "");
    let mut live = daemon.stream("?topic=agent.*", "");
    let address = daemon.at("events").to_owned();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (150..250).step_by(2) {
                append(&mut other, number);
                post(&address, "", &event("agent.step", number + 1)).with(200);
            }
        });
        for number in 0..250 {
            assert_eq!(stream.number(), number);
        }
        for number in 150..250 {
            assert_eq!(live.number(), number);
        }
    });
    // A client that comes back says where it was.
    let origin = daemon.serving["origin"].as_str().unwrap();
    let mut again = daemon.stream("?since=0", &format!("Last-Event-ID: {origin}:248\r\n"));
    let told = again.next();
    assert_eq!(told.id, format!("{origin}:249"));
    assert_eq!(again.number(), 249);
}

/// CALC-L1-1: what another process appends is heard of although nothing is handed in here.
#[test]
fn what_others_append_is_heard_of_without_a_request() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut stream = daemon.stream("", "");
    let mut other = journal(&env);
    for number in 0..3 {
        append(&mut other, number);
        assert_eq!(stream.number(), number as u64);
    }
}

/// CALC-L1-1: what is missing is told.
#[test]
fn notices_of_what_is_missing_are_events_with_a_name() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    daemon.post("", &event("a", 0)).with(200);
    let path = env
        .machine_home()
        .join("mesh/events/00000000000000000001.jsonl");
    let mut lines = std::fs::read(&path).unwrap();
    lines.extend(b"not json\n");
    std::fs::write(&path, lines).unwrap();
    daemon.post("", &event("a", 1)).with(200);
    let mut stream = daemon.stream("?since=another:7", "");
    assert_eq!(stream.next().name, "reset");
    let told: Vec<_> = (0..3).map(|_| stream.next().name).collect();
    assert!(told.contains(&"damaged".to_owned()), "{told:?}");
    assert_eq!(told.iter().filter(|name| name.is_empty()).count(), 2);
}

/// CALC-L1-1: who is kept nowhere is heard by who listens, and by nobody after.
#[test]
fn an_ephemeral_event_is_passed_on_and_not_kept() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut stream = daemon.stream("", "");
    daemon
        .post("?durability=ephemeral", &event("a", 7))
        .with(200);
    let told = stream.next();
    assert!(told.data.contains("\"number\":7"));
    let found = daemon.get("events", "/events").with(200).json();
    assert_eq!(found["events"], json!([]));
}

/// CALC-L1-1: many who want to be on disk at once are, each in a place of its own.
#[test]
fn synced_events_of_many_at_once_are_each_in_their_place() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let address = daemon.at("events");
    let mut seqs: Vec<u64> = std::thread::scope(|scope| {
        let posts: Vec<_> = (0..8)
            .map(|number| {
                scope.spawn(move || {
                    let mut seqs = Vec::new();
                    for _ in 0..10 {
                        let ack = post(address, "?durability=synced", &event("a", number));
                        seqs.push(ack.with(200).json()["seq"].as_u64().unwrap());
                    }
                    seqs
                })
            })
            .collect();
        posts
            .into_iter()
            .flat_map(|post| post.join().unwrap())
            .collect()
    });
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=80).collect::<Vec<_>>());
}
