//! Whom the daemon does not answer: pages in a browser, names that are not this machine's.

use std::{
    os::unix::fs::MetadataExt as _,
    time::{Duration, Instant},
};

use callosum_host::peer::OtherUsers;
use callosum_testkit::TestEnv;

use super::daemon::{Daemon, ask, event};

/// CALC-SEC-1, CALC-FAIL-1: who holds connections and says nothing, or half of something, locks nobody out, and nobody who
/// listens loses their place to them.
#[test]
fn who_says_nothing_locks_nobody_out() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut stream = daemon.stream("", "");
    let mut held = Vec::new();
    let began = Instant::now();
    for number in 0..300 {
        let mut connection = std::net::TcpStream::connect(daemon.at("events")).unwrap();
        if number % 2 == 0 {
            // It may have had to make room already.
            drop(std::io::Write::write_all(
                &mut connection,
                b"POST /events HTTP/1.1\r\nHost: loc",
            ));
        }
        held.push(connection);
    }
    daemon.post("", &event("a.b", 1)).with(200);
    assert_eq!(stream.number(), 1);
    let metrics = daemon.get("metrics", "/metrics").with(200).body;
    let silent = metrics.lines().find_map(|line| {
        let count = line.strip_prefix("mesh_refused_total{reason=\"silent\"} ")?;
        count.parse::<u64>().ok()
    });
    // Where it takes longer to open them, some were let go before there were too many.
    let made_room = silent.is_some_and(|count| count >= 44);
    let is_slow = began.elapsed() > Duration::from_secs(5);
    assert!(made_room || is_slow, "{silent:?}");
    env.run(["serve", "status"]).success();
}

/// CALC-SEC-1: another user of the machine neither reads what is told nor tells anything; metrics are theirs to read.
#[test]
fn no_other_user_of_the_machine_reads_or_posts() {
    use std::os::unix::process::CommandExt as _;
    if std::fs::metadata(TestEnv::new().folder()).unwrap().uid() != 0 {
        // Only the superuser can become another; who is not is another to whoever runs the tests as one.
        return;
    }
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    daemon.post("", &event("a.b", 1)).with(200);
    let asked = |door: &str, head: &str| {
        let (host, port) = daemon.at(door).rsplit_once(':').unwrap();
        let said = format!(
            "exec 3<>/dev/tcp/{host}/{port}; printf '{head} HTTP/1.1\r\nHost: localhost\r\n\
             Connection: close\r\n\r\n' >&3; head -1 <&3"
        );
        let mut shell = std::process::Command::new("bash");
        let output = shell.args(["-c", &said]).uid(65534).gid(65534).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for (door, head) in [
        ("events", "GET /events"),
        ("events", "GET /events/stream"),
        ("events", "GET /health"),
        ("bus", "GET /"),
    ] {
        let answer = asked(door, head);
        assert!(
            answer.starts_with("HTTP/1.1 403"),
            "{door} {head}: {answer}"
        );
    }
    let metrics = asked("metrics", "GET /metrics");
    assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
    let metrics = daemon.get("metrics", "/metrics").with(200).body;
    assert!(metrics.contains("mesh_refused_total{reason=\"user\"} 4"));
}

/// CALC-SEC-1, CALC-L1-1: who hands something in and closes the connection behind it is heard where nobody else is at the machine; and
/// counted, where somebody may be.
#[test]
fn who_closes_behind_what_they_sent_is_heard_or_counted() {
    const ALL: usize = 200;
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    for number in 0..ALL {
        let body = event("a.b", number);
        let length = body.len();
        let post = format!(
            "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut connection = std::net::TcpStream::connect(daemon.at("events")).unwrap();
        std::io::Write::write_all(&mut connection, post.as_bytes()).unwrap();
    }
    let counted = || {
        let metrics = daemon.get("metrics", "/metrics").with(200).body;
        let count = |name: &str| {
            let mut lines = metrics.lines();
            let count = lines.find_map(|line| line.strip_prefix(name));
            count.unwrap().trim().parse::<usize>().unwrap()
        };
        let found = daemon.get("events", "/events?limit=1000").with(200).json();
        let heard = found["events"].as_array().unwrap().len();
        let refused = count("mesh_refused_total{reason=\"gone\"}");
        (heard, refused, count("mesh_let_go_total"))
    };
    let begun = Instant::now();
    let (refused, let_in) = loop {
        let (heard, refused, let_in) = counted();
        if heard + refused == ALL {
            break (refused, let_in);
        }
        let waited = begun.elapsed().as_secs();
        assert!(waited < 60, "{heard} heard, {refused} refused");
        std::thread::sleep(Duration::from_millis(20));
    };
    if OtherUsers::default().is_alone() {
        assert_eq!(refused, 0, "{let_in} let in");
    }
}

/// CALC-SEC-1: a web page in a browser can neither read nor post, at any door.
#[test]
fn no_page_in_a_browser_reads_or_posts() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let body = event("a", 1);
    let length = body.len();
    for stranger in [
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: evil.example\r\n",
        "Host: evil.example:8600\r\n",
    ] {
        let post = format!(
            "POST /events HTTP/1.1\r\n{stranger}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        ask(daemon.at("events"), &post).with(403);
        for (door, path) in [
            ("events", "/events"),
            ("events", "/events/stream"),
            ("metrics", "/metrics"),
            ("bus", "/"),
        ] {
            let get = format!("GET {path} HTTP/1.1\r\n{stranger}Connection: close\r\n\r\n");
            ask(daemon.at(door), &get).with(403);
        }
        let upgrade = format!(
            "GET / HTTP/1.1\r\n{stranger}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        let refused = ask(
            daemon.at("bus"),
            &upgrade.replace("Connection: Upgrade", "Connection: Upgrade, close"),
        );
        refused.with(403);
    }
    let found = daemon.get("events", "/events").with(200).json();
    assert_eq!(found["events"], serde_json::json!([]));
    let metrics = daemon.get("metrics", "/metrics").with(200);
    assert!(
        metrics
            .body
            .contains("mesh_refused_total{reason=\"page\"} 18"),
        "{}",
        metrics.body
    );
}

/// CALC-SEC-1: requests that are no HTTP, or no end, cost the others nothing.
#[test]
fn requests_that_make_no_sense_cost_the_others_nothing() {
    use std::io::Write as _;

    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut held = Vec::new();
    for begun in [
        "",
        "G",
        "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx",
        "\0\0\0",
    ] {
        for door in ["events", "bus", "metrics"] {
            let mut stream = std::net::TcpStream::connect(daemon.at(door)).unwrap();
            stream.write_all(begun.as_bytes()).unwrap();
            held.push(stream);
        }
    }
    let head = format!(
        "GET /events HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    if let Ok(answer) = super::daemon::try_ask(daemon.at("events"), &head) {
        answer.with(431);
    }
    daemon.post("", &event("a", 1)).with(200);
    super::daemon::ask(
        daemon.at("events"),
        "DELETE /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    .with(405);
}
