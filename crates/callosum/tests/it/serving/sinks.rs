//! What is passed on to places outside, against a Discord of the test's own.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use super::daemon::{Daemon, event};

/// How long a message may take, pauses between two included.
const PATIENCE: Duration = Duration::from_secs(90);

/// A Discord that answers as it is told to, and remembers what it was posted.
pub(crate) struct Discord {
    pub(crate) address: SocketAddr,
    posted: Arc<Mutex<Vec<(Instant, Value)>>>,
}

impl Discord {
    /// The first posts are answered with these, the others with 204.
    pub(crate) fn start(listener: TcpListener, answers: &[&'static str]) -> Self {
        let address = listener.local_addr().unwrap();
        let posted = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&posted);
        let mut answers: VecDeque<&'static str> = answers.iter().copied().collect();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) < 3 {
                        break;
                    }
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                if reader.read_exact(&mut body).is_err() || body.is_empty() {
                    continue;
                }
                let body = serde_json::from_slice(&body).unwrap();
                seen.lock().unwrap().push((Instant::now(), body));
                let answer = answers.pop_front().unwrap_or("204 No Content\r\n\r\n");
                let answer = answer.replacen("\r\n", "\r\nConnection: close\r\n", 1);
                drop(stream.write_all(format!("HTTP/1.1 {answer}").as_bytes()));
            }
        });
        Self { address, posted }
    }

    pub(crate) fn wait_for(&self, count: usize) -> Vec<(Instant, Value)> {
        let began = Instant::now();
        loop {
            let posted = self.posted.lock().unwrap().clone();
            if posted.len() >= count {
                return posted;
            }
            assert!(began.elapsed() < PATIENCE, "{count} posts: {posted:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn content(posted: &(Instant, Value)) -> &str {
    posted.1["content"].as_str().unwrap()
}

/// Configures a sink at this address, in a variable, and starts a daemon.
fn start(env: &TestEnv, address: SocketAddr) -> Daemon<'_> {
    let text = "[sinks.team]\nkind = \"discord\"\nurl_env = \"TEAM_HOOK\"\ntopics = [\"calc.*\"]\n";
    std::fs::write(env.configuration(), text).unwrap();
    let serve = [
        "serve",
        "--detach",
        "--json",
        "--events",
        "127.0.0.1:0",
        "--bus",
        "off",
        "--metrics",
        "127.0.0.1:0",
    ];
    let started = env
        .callosum()
        .env(
            "TEAM_HOOK",
            format!("http://{address}/api/webhooks/1/s3cret-token"),
        )
        .arguments(serve)
        .run();
    Daemon::of(env, started.success().json())
}

fn status(env: &TestEnv) -> Value {
    env.run(["serve", "status", "--json"]).success().json()["sinks"][0].clone()
}

/// CALC-L1-1: events are passed on to a webhook, several in one message, with nobody mentioned, at a pace; a refusal for now is
/// waited for as long as it says.
#[test]
fn a_webhook_is_told_at_its_own_pace() {
    let env = TestEnv::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let limited = "429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}";
    let discord = Discord::start(listener, &[limited]);
    let daemon = start(&env, discord.address);
    let list: Vec<_> = (0..60).map(|number| event("calc.step", number)).collect();
    daemon.post("", &event("agent.other", 99)).with(200);
    daemon.post("", &format!("[{}]", list.join(","))).with(200);
    let posted = discord.wait_for(3);
    assert_eq!(posted[0].1, posted[1].1, "what was refused comes again");
    let waited = posted[1].0 - posted[0].0;
    assert!(waited >= Duration::from_secs(3), "{waited:?}");
    assert!(posted[2].0 - posted[1].0 >= Duration::from_millis(1900));
    let mut numbers = Vec::new();
    for one in &posted[1..] {
        assert!(content(one).encode_utf16().count() <= 2000);
        assert_eq!(one.1["allowed_mentions"], json!({"parse": []}));
        for line in content(one).lines() {
            let (_, number) = line.split_once("\"number\":").unwrap();
            numbers.push(number.trim_end_matches('}').parse::<usize>().unwrap());
        }
    }
    let expected: Vec<usize> = (0..numbers.len()).collect();
    assert_eq!(numbers, expected, "each once, in order");
    assert!(numbers.len() > 20, "several in one message");
    let told = status(&env);
    assert_eq!(
        (&told["name"], &told["failures"]),
        (&json!("team"), &json!(1))
    );
    assert!(!told.to_string().contains("s3cret"), "{told}");
    let metrics = daemon.get("metrics", "/metrics").with(200).body;
    assert!(
        metrics.contains("mesh_sink_failures_total{sink=\"team\"} 1"),
        "{metrics}"
    );
}

/// CALC-FAIL-1: a place that is down costs nobody else anything, and is caught up when it is there again, also by another daemon.
#[test]
fn a_place_that_was_down_is_caught_up() {
    let env = TestEnv::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let daemon = start(&env, address);
    let began = Instant::now();
    let failed = loop {
        daemon.post("", &event("calc.step", 1)).with(200);
        let told = status(&env);
        if told["failures"].as_u64() > Some(0) {
            break told;
        }
        assert!(began.elapsed() < PATIENCE, "{told}");
    };
    assert_eq!(failed["healthy"], false);
    assert!(!failed.to_string().contains("s3cret"), "{failed}");
    let words = env.run(["serve", "status"]).success().stdout;
    assert!(words.contains("sink     team (discord)"), "{words}");
    daemon.signal("KILL");
    daemon.wait_until_gone();
    // Nobody serves; what is told meanwhile is told later too.
    env.run(["mesh", "publish", "calc.meanwhile", "--as", "gemini"])
        .success();
    let discord = Discord::start(TcpListener::bind(address).unwrap(), &[]);
    let _again = start(&env, address);
    let began = Instant::now();
    loop {
        let posted = discord.wait_for(1);
        let text: String = posted.iter().map(content).collect();
        if text.contains("calc.meanwhile") {
            assert!(text.contains("\"number\":1"), "{text}");
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// CALC-L1-1: one event that a place refuses is passed over and told of; a place that refuses one after the other takes nothing,
/// and is caught up when it does.
#[test]
fn an_event_that_is_refused_is_passed_over_and_a_place_that_refuses_all_is_not() {
    const REFUSED: &str = "400 Bad Request\r\nContent-Length: 2\r\n\r\n{}";
    let env = TestEnv::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // All five at once, then three of them one by one; then it is well again.
    let discord = Discord::start(listener, &[REFUSED; 4]);
    let daemon = start(&env, discord.address);
    let list: Vec<_> = (0..5).map(|number| event("calc.step", number)).collect();
    daemon.post("", &format!("[{}]", list.join(","))).with(200);
    let posted = discord.wait_for(4);
    let began = Instant::now();
    while status(&env)["failures"] != 4 {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    let told = status(&env);
    assert_eq!(told["healthy"], false, "{told}");
    assert_eq!(told["passed_over"], 0, "{told}");
    assert!(content(&posted[3]).contains("\"number\":2"));
    let posted = discord.wait_for(6);
    let caught_up: String = posted[4..].iter().map(content).collect();
    for number in 0..5 {
        assert!(
            caught_up.contains(&format!("\"number\":{number}")),
            "{caught_up}"
        );
    }
    // What it has kept of that the next daemon goes on from.
    let began = Instant::now();
    while status(&env)["events"] != 5 {
        assert!(began.elapsed() < PATIENCE, "{}", status(&env));
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(daemon);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let discord = Discord::start(listener, &[REFUSED]);
    let daemon = start(&env, discord.address);
    daemon.post("", &event("calc.step", 5)).with(200);
    discord.wait_for(1);
    let began = Instant::now();
    while status(&env)["failures"] != 1 {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    // Nothing comes after it, and the place is well all the same.
    let told = status(&env);
    assert_eq!(told["healthy"], true, "{told}");
    assert!(told["reason"].as_str().unwrap().contains("400"), "{told}");
    daemon.post("", &event("calc.step", 6)).with(200);
    discord.wait_for(2);
    let began = Instant::now();
    while status(&env)["passed_over"] != 1 {
        assert!(began.elapsed() < PATIENCE, "{}", status(&env));
        std::thread::sleep(Duration::from_millis(10));
    }
    let words = env.run(["serve", "status"]).success().stdout;
    assert!(words.contains("refused and skipped: 1 event"), "{words}");
    let metrics = daemon.get("metrics", "/metrics").with(200).body;
    let line = "mesh_sink_passed_over_total{sink=\"team\"} 1";
    assert!(metrics.contains(line), "{metrics}");
}

/// CALC-SEC-1: a configuration that is wrong is refused, with the key and what is allowed.
#[test]
fn a_sink_that_makes_no_sense_is_refused() {
    let env = TestEnv::new();
    let text = "[sinks.team]\nkind = \"discord\"\nurl_env = \"https://x/y\"\n";
    std::fs::write(env.configuration(), text).unwrap();
    let said = env.run(["serve"]).ended_with(3).stderr;
    assert!(said.contains("sinks.team.url_env"), "{said}");
    assert!(!said.contains("https://x/y"), "{said}");
    // The same in the background, with a hint that does not fail in the same way.
    let said = env.run(["serve", "--detach"]).ended_with(3).stderr;
    assert!(said.contains("sinks.team.url_env"), "{said}");
    assert!(
        said.contains("EDITOR") && !said.contains("--metrics off"),
        "{said}"
    );
}

/// CALC-L1-1: places are read when the daemon begins: who names others is told that they are not heeded yet.
#[test]
fn places_that_were_named_since_are_told_of() {
    let env = TestEnv::new();
    let _daemon = Daemon::start(&env);
    let status = || env.run(["serve", "status"]).success().stderr;
    assert_eq!(status(), "");
    let text = "[sinks.team]\nkind = \"discord\"\nurl_env = \"TEAM_HOOK\"\n";
    env.write(env.configuration(), text);
    let told = status();
    assert!(told.contains("configured sinks differ"), "{told}");
    env.write(env.configuration(), "[sinks.b]\nkind = \"slack\"\n");
    let told = status();
    assert!(
        told.contains("sinks from its start") && told.contains("slack"),
        "{told}"
    );
}

/// CALC-L1-1: a place whose address is not in the environment is told of when the daemon begins.
#[test]
fn a_place_without_an_address_is_told_of_at_the_start() {
    let env = TestEnv::new();
    let text = "[sinks.team]\nkind = \"discord\"\nurl_env = \"TEAM_HOOK\"\n";
    env.write(env.configuration(), text);
    let serve = "serve --detach --events off --bus off --metrics off";
    let told = env.run(serve.split(' ')).success().stderr;
    env.run(["serve", "stop"]).success();
    assert!(
        told.contains("sink team receives no events: $TEAM_HOOK is not set"),
        "{told}"
    );
}
