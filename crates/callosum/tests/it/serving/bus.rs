//! The bus: topics, acknowledgements, and who is slow.

use std::{net::TcpStream, time::Duration};

use callosum_testkit::TestEnv;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use super::daemon::{Daemon, event};

/// A client of the bus.
pub(super) struct Client(WebSocket<TcpStream>);

impl Client {
    pub(super) fn connect(daemon: &Daemon<'_>) -> Self {
        let address = daemon.at("bus");
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(90)))
            .unwrap();
        let (socket, _) = tungstenite::client(format!("ws://{address}/"), stream).unwrap();
        Self(socket)
    }

    pub(super) fn say(&mut self, value: Value) {
        self.0
            .send(Message::Text(value.to_string().into()))
            .unwrap();
    }

    pub(super) fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    pub(super) fn asked(&mut self, value: Value) -> Value {
        self.say(value);
        self.hear()
    }

    fn number(&mut self) -> u64 {
        let told = self.hear();
        assert_eq!(told["op"], "event", "{told}");
        told["event"]["payload"]["number"].as_u64().unwrap()
    }
}

fn numbered(topic: &str, number: usize) -> Value {
    serde_json::from_str(&event(topic, number)).unwrap()
}

/// CALC-L2-1: topics with `*` and `**`; each hears what it asked for, from wherever it was published.
#[test]
fn each_hears_the_topics_that_it_asked_for() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let (mut one, mut two) = (Client::connect(&daemon), Client::connect(&daemon));
    let said = one.asked(json!({"op": "subscribe", "topics": ["calc.*"], "ref": 1}));
    assert_eq!(
        (&said["op"], &said["ref"]),
        (&json!("subscribed"), &json!(1))
    );
    two.asked(json!({"op": "subscribe", "topics": ["evo3.**", "pane.*"]}));
    for (number, topic) in ["calc.note", "calc.a.b", "evo3.a.b", "pane.x", "evo3"]
        .iter()
        .enumerate()
    {
        one.say(json!({"op": "publish", "event": numbered(topic, number), "ref": "r"}));
        // What it hears itself may come before or after its acknowledgement.
        let ack = loop {
            let heard = one.hear();
            if heard["op"] != "event" {
                break heard;
            }
        };
        assert_eq!(ack["op"], "ack", "{ack}");
        assert_eq!(ack["acks"][0]["durability"], "logged");
        if number == 0 {
            daemon.post("", &event("calc.last", 9)).with(200);
        }
    }
    assert_eq!([two.number(), two.number(), two.number()], [2, 3, 4]);
    two.say(json!({"op": "subscribe", "topics": ["calc.*"], "since": "0"}));
    assert_eq!(two.hear()["op"], "subscribed");
    assert_eq!([two.number(), two.number()], [0, 9]);
}

/// CALC-L2-1: a request is matched with its acknowledgement by its id, over whichever way that comes.
#[test]
fn a_request_hears_of_its_own_acknowledgement() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let (mut asks, mut answers) = (Client::connect(&daemon), Client::connect(&daemon));
    answers.asked(json!({"op": "subscribe", "topics": ["calc.request"]}));
    let request = json!({"source": "claude-code", "payload": {"to": "codex", "what": "review"}});
    let ack = asks.asked(json!({"op": "request", "event": request, "ref": 5}));
    let id = ack["acks"][0]["id"].as_str().unwrap().to_owned();
    let heard = answers.hear();
    assert_eq!(heard["event"]["id"], id);
    let other = json!({"op": "ack", "of": "another", "source": "codex"});
    assert_eq!(answers.asked(other)["op"], "ack");
    let ack = json!({"op": "ack", "of": id, "source": "codex", "payload": {"answer": "yes"}});
    assert_eq!(answers.asked(ack)["op"], "ack");
    let acked = asks.hear();
    assert_eq!((&acked["op"], &acked["of"]), (&json!("acked"), &json!(id)));
    assert_eq!(acked["event"]["payload"]["answer"], "yes");
    // By HTTP as well, and a request that nobody answers is told of.
    let ack = asks.asked(json!({"op": "request", "event": request}));
    let id = ack["acks"][0]["id"].as_str().unwrap().to_owned();
    let by_http = json!({"type": "calc.ack", "source": "gemini-cli", "payload": {"of": id}});
    daemon.post("", &by_http.to_string()).with(200);
    assert_eq!(asks.hear()["event"]["source"], "gemini-cli");
    asks.asked(json!({"op": "request", "event": request, "timeout_seconds": 0}));
    assert_eq!(asks.hear()["op"], "unacked");
}

/// CALC-L2-1: who asks again under the same id hears of the acknowledgement that came while they were away.
#[test]
fn who_asks_again_hears_of_what_came_meanwhile() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let request = json!({
        "op": "request", "event": {"id": "same", "source": "claude-code", "payload": {"what": "review"}},
    });
    let mut asks = Client::connect(&daemon);
    let first = asks.asked(request.clone());
    drop(asks);
    let ack =
        json!({"type": "calc.ack", "source": "codex", "payload": {"of": "same", "answer": "yes"}});
    daemon.post("", &ack.to_string()).with(200);
    let mut again = Client::connect(&daemon);
    let second = again.asked(request.clone());
    assert_eq!(first["acks"][0]["seq"], second["acks"][0]["seq"]);
    let acked = again.hear();
    assert_eq!(
        (&acked["op"], &acked["of"]),
        (&json!("acked"), &json!("same"))
    );
    assert_eq!(acked["event"]["payload"]["answer"], "yes");
    let mut ephemeral = request;
    ephemeral["durability"] = "ephemeral".into();
    assert_eq!(again.asked(ephemeral)["op"], "error");
}

/// CALC-L2-1: who asks again while the first waits is told of one request, once.
#[test]
fn a_request_that_is_asked_again_while_it_waits_is_one() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut asks = Client::connect(&daemon);
    let request = |id: &str, wait: u32| {
        let event = json!({"id": id, "source": "claude-code", "payload": {"what": "review"}});
        json!({"op": "request", "event": event, "timeout_seconds": wait})
    };
    asks.asked(request("same", 300));
    asks.asked(request("same", 0));
    let ack = json!({"type": "calc.ack", "source": "codex", "payload": {"of": "same"}});
    daemon.post("", &ack.to_string()).with(200);
    let acked = asks.hear();
    assert_eq!(
        (&acked["op"], &acked["of"]),
        (&json!("acked"), &json!("same"))
    );
    asks.asked(request("other", 0));
    let late = asks.hear();
    assert_eq!(
        (&late["op"], &late["of"]),
        (&json!("unacked"), &json!("other"))
    );
}

/// CALC-L2-1: what is not understood is said, and the connection goes on.
#[test]
fn what_is_wrong_is_said_and_the_connection_goes_on() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut client = Client::connect(&daemon);
    for wrong in [
        json!({"op": "shout"}),
        json!({"op": "subscribe", "topics": [".."]}),
        json!({"op": "subscribe", "topics": []}),
        json!({"op": "subscribe", "since": "x"}),
        json!({"op": "publish"}),
        json!({"op": "publish", "event": {"type": "a b"}}),
        json!({"op": "publish", "event": {"type": "a", "source": "x"}, "durability": "for ever"}),
        json!({"op": "request", "event": {"type": "a", "source": "x"}}),
        json!({"op": "ack", "of": "x"}),
        json!([1]),
        json!({"op": "ping", "more": 1}),
    ] {
        let said = client.asked(wrong.clone());
        assert_eq!(said["op"], "error", "{wrong}: {said}");
    }
    let faults = client.asked(json!({"op": "publish", "event": {"type": "a b"}, "ref": 3}));
    assert_eq!(faults["faults"][0]["key"], "type");
    assert_eq!(faults["ref"], 3);
    let unknown = client.asked(json!({"op": "ping", "ref": [4], "more": 1}));
    assert_eq!(unknown["ref"], json!([4]), "{unknown}");
    assert_eq!(client.asked(json!({"op": "ping"}))["op"], "pong");
    let long = "x".repeat(2 * 1024 * 1024);
    // It may be let go before it has said all of it.
    drop(client.0.send(Message::Text(long.into())));
    let mut other = Client::connect(&daemon);
    assert_eq!(other.asked(json!({"op": "ping"}))["op"], "pong");
}

/// CALC-L2-1: who takes nothing keeps nobody waiting, and reads all of it when it comes to it.
#[test]
fn who_is_slow_keeps_nobody_waiting_and_misses_nothing() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut slow = Client::connect(&daemon);
    slow.asked(json!({"op": "subscribe", "topics": ["**"]}));
    let mut quick = Client::connect(&daemon);
    quick.asked(json!({"op": "subscribe", "topics": ["**"]}));
    let text = "x".repeat(40_000);
    let mut many = 0;
    // As many as the buffers of a connection and the queue together do not hold, and no more: who takes nothing for a
    // minute is let go.
    let is_full = || {
        let metrics = daemon.get("metrics", "/metrics").with(200).body;
        let mut lines = metrics.lines();
        let dropped =
            lines.find_map(|line| line.strip_prefix("mesh_dropped_total{reason=\"slow\"} "));
        dropped.is_some_and(|count| count != "0")
    };
    while !is_full() {
        assert!(many < 1_000, "its queue was never full");
        let from = many;
        many += 20;
        let events = (from..from + 20).map(|number| {
            json!({"type": "a", "source": "codex", "payload": {"number": number, "text": text}})
        });
        daemon
            .post("", &events.collect::<Value>().to_string())
            .with(200);
        for number in from..from + 20 {
            assert_eq!(quick.number(), number);
        }
    }
    for number in 0..many {
        assert_eq!(slow.number(), number);
    }
}

/// CALC-FAIL-1: a daemon that ends says so on the bus.
#[test]
fn a_daemon_that_ends_says_so() {
    let env = TestEnv::new();
    let daemon = Daemon::start(&env);
    let mut client = Client::connect(&daemon);
    client.asked(json!({"op": "subscribe"}));
    env.run(["serve", "stop"]).success();
    let Message::Close(Some(frame)) = client.0.read().unwrap() else {
        panic!("it is closed with a reason")
    };
    assert_eq!(u16::from(frame.code), 1001);
}
