//! `POST /v1/infer`: another Callosum asks the models of this one.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::mpsc,
    time::Duration,
};

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use super::daemon::{Answer, Daemon, ask};
use crate::configured_models::{configure, server, write_beside};

const TOKEN: &str = "a-token-of-twenty-on";

/// Longest time of a step on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// An environment whose daemon serves a scripted model, and one more that its server answers for.
fn serving(server: &str) -> TestEnv {
    let env = TestEnv::new();
    write_beside(&env, "token", TOKEN);
    write_beside(&env, "answers.toml", "[[answers]]\nreply = \"pong\"\n");
    configure(
        &env,
        &format!(
            "[models.script]\nkind = \"stub\"\nscript = \"answers.toml\"\n\
             [models.hidden]\nkind = \"stub\"\nscript = \"answers.toml\"\n\
             [models.llama]\nkind = \"local\"\nurl = \"{server}\"\n\
             [arbiter]\nserve_models = [\"script\", \"llama\"]\nserve_token_file = \"token\"\n"
        ),
    );
    env
}

fn request(headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /v1/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

fn authorized() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

fn infer(daemon: &Daemon<'_>, body: &Value) -> Answer {
    ask(
        daemon.at("events"),
        &request(&authorized(), &body.to_string()),
    )
}

/// CCOS-MOD-1: a model of another Callosum is asked over HTTP with a token, and its usage comes with the reply.
#[test]
fn another_callosum_asks_a_served_model() {
    let env = serving("http://127.0.0.1:1");
    let daemon = Daemon::with(&env, &["--bus", "off", "--metrics", "off"]);
    let asking = TestEnv::new();
    let model = |token: &str| {
        write_beside(&asking, "token", token);
        let url = daemon.at("events");
        let table = |name: &str, model: &str| {
            format!(
                "[models.{name}]\nkind = \"remote-arbiter\"\nurl = \"http://{url}\"\nmodel = \"{model}\"\n\
                 token_file = \"token\"\n"
            )
        };
        configure(
            &asking,
            &(table("lab", "script") + &table("other", "hidden")),
        );
    };
    let check = |name: &str, exit: i32| {
        let checked = asking
            .run(["model", "check", name, "--json"])
            .ended_with(exit)
            .json();
        checked["models"][0].clone()
    };
    model(TOKEN);
    let answered = check("lab", 0);
    assert_eq!(answered["text"], "pong");
    assert!(answered["tokens"].as_u64().unwrap() > 1);
    let plan = "(:text (call :llm.infer {:prompt \"hello\" :model :lab}))";
    assert_eq!(
        asking
            .run(["plan", "run", "-e", plan])
            .success()
            .stdout
            .trim(),
        "\"pong\""
    );
    let unknown = check("other", 1)["text"].to_string();
    assert!(unknown.contains("`hidden` is not served here"), "{unknown}");
    model("another-token-of-twenty");
    let refused = check("lab", 1)["text"].to_string();
    assert!(
        refused.contains("401") && refused.contains("token_file"),
        "{refused}"
    );
    assert!(!refused.contains("another-token-of-twenty"), "{refused}");
}

/// CCOS-MOD-1, CALC-SEC-1: without the token, from a page, or beyond its bounds, a request reaches no model.
#[test]
fn a_request_without_right_reaches_no_model() {
    let env = serving("http://127.0.0.1:1");
    let daemon = Daemon::with(&env, &["--bus", "off", "--metrics", "off"]);
    let at = daemon.at("events");
    let body = json!({"model": "script", "prompt": "ping"}).to_string();
    for (headers, status) in [
        (String::new(), 401),
        ("Authorization: Bearer wrong\r\n".to_owned(), 401),
        (authorized() + "Origin: http://localhost:3000\r\n", 403),
        (authorized() + "Sec-Fetch-Site: cross-site\r\n", 403),
        (authorized(), 200),
    ] {
        assert_eq!(
            ask(at, &request(&headers, &body)).status,
            status,
            "{headers}"
        );
    }
    let elsewhere = request(&authorized(), &body).replace("Host: localhost", "Host: evil.example");
    assert_eq!(ask(at, &elsewhere).status, 403);
    let long = json!({"model": "script", "prompt": "x".repeat(1 << 20)});
    for (body, status) in [
        (json!({"model": "script"}), 400),
        (json!({"model": "script", "prompt": "p", "tools": []}), 400),
        (json!({"model": "hidden", "prompt": "p"}), 404),
        (long, 413),
    ] {
        let answer = infer(&daemon, &body);
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    let get = daemon.get("events", "/v1/models");
    assert_eq!(get.status, 401);
    // A daemon whose user serves nothing has no such address.
    drop(daemon);
    let plain = TestEnv::new();
    let daemon = Daemon::with(&plain, &["--bus", "off", "--metrics", "off"]);
    assert_eq!(
        infer(&daemon, &json!({"model": "echo", "prompt": "p"})).status,
        404
    );
}

/// CCOS-MOD-1: a model is ended at its deadline and when its client is gone, and no more than four work at once.
#[test]
fn a_model_ends_with_its_deadline_and_with_its_client() {
    let (send, received) = mpsc::channel();
    let silent = server(move |socket, request| {
        let (mut socket, send) = (socket.try_clone().unwrap(), send.clone());
        let is_counted = request.contains("held");
        std::thread::spawn(move || {
            if !is_counted {
                drop(socket.read(&mut [0; 1]));
                return;
            }
            send.send("asked").unwrap();
            // Ends when the client is gone.
            drop(socket.read(&mut [0; 1]));
            send.send("gone").ok();
        });
    });
    let env = serving(&silent);
    let daemon = Daemon::with(&env, &["--bus", "off", "--metrics", "off"]);
    let next = || received.recv_timeout(PATIENCE).unwrap();
    let asked = json!({"model": "llama", "prompt": "held"}).to_string();
    let clients: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut client = TcpStream::connect(daemon.at("events")).unwrap();
            client
                .write_all(request(&authorized(), &asked).as_bytes())
                .unwrap();
            client
        })
        .collect();
    for _ in 0..4 {
        assert_eq!(next(), "asked");
    }
    let busy = infer(&daemon, &json!({"model": "script", "prompt": "p"}));
    assert_eq!(busy.status, 503, "{}", busy.body);
    assert!(busy.headers.contains_key("retry-after"));
    drop(clients);
    for _ in 0..4 {
        assert_eq!(next(), "gone");
    }
    // Their places are free again.
    let answer = || infer(&daemon, &json!({"model": "script", "prompt": "p"})).status;
    let began = std::time::Instant::now();
    while answer() != 200 {
        assert!(began.elapsed() < PATIENCE, "no place becomes free");
    }
    let late = infer(
        &daemon,
        &json!({"model": "llama", "prompt": "p", "deadline_ms": 300}),
    );
    assert_eq!(late.status, 504, "{}", late.body);
    assert!(late.body.contains("deadline"), "{}", late.body);
}
