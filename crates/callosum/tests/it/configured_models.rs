//! Models of the user's configuration: listed, checked, asked by plans and by `callosum do`, and servers that misbehave.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
};

use callosum_executor::registry::Executor;
use callosum_host::{Disk, process::Cancel};
use callosum_model::{Delta, ExecutorModel, Limits, ModelError, ModelProvider as _, Request};
use callosum_testkit::{Schema, TestEnv};
use serde_json::{Value, json};

use crate::projects::{surroundings, two_languages};

/// Writes a file in the folder of the user's configuration.
pub(crate) fn write_beside(env: &TestEnv, name: &str, content: &str) {
    let path = env.configuration().with_file_name(name);
    Disk::real()
        .replace(&path, content.as_bytes(), 0o600)
        .unwrap();
}

/// Writes the user's configuration.
pub(crate) fn configure(env: &TestEnv, text: &str) {
    let path = env.configuration();
    Disk::real().replace(&path, text.as_bytes(), 0o600).unwrap();
}

/// A server on loopback that gives each connection to a function once it has read the request. Returns its URL.
pub(crate) fn server(treat: impl Fn(&mut TcpStream, &str) + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if let Some(request) = request(&stream) {
                treat(&mut stream, &request);
            }
        }
    });
    url
}

/// Reads a request, head and body.
fn request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}

fn whole(stream: &mut TcpStream, body: &str) {
    let length = body.len();
    // The client may have gone, which is for the test to judge.
    drop(write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ));
}

fn check(env: &TestEnv, name: &str, exit: i32) -> Value {
    let checked = env
        .run(["model", "check", name, "--json"])
        .ended_with(exit)
        .json();
    checked["models"][0].clone()
}

/// CCOS-MOD-1: the models of the configuration are listed with kind, source, place and trust tier, and each answers.
#[test]
fn configured_models_are_listed_and_checked() {
    let env = two_languages();
    write_beside(&env, "answers.jsonl", "{\"reply\": \"pong\"}\n");
    configure(
        &env,
        "[models.script]\nkind = \"stub\"\nscript = \"answers.jsonl\"\n\
         [models.low]\nkind = \"stub\"\nscript = \"answers.jsonl\"\ntrust_tier = 1\n\
         [models.missing]\nkind = \"stub\"\nscript = \"none.toml\"\n\
         [models.llama]\nkind = \"local\"\nurl = \"http://127.0.0.1:1\"\nmodel = \"phi\"\n\
         [arbiter]\nplanner = \"script\"\n",
    );
    let listed = env.run(["model", "list", "--json"]).success().json();
    assert_eq!(Schema::published("output-model-list").fault(&listed), None);
    let rows: Vec<_> = listed["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| {
            let text = |key: &str| model[key].as_str().unwrap().to_owned();
            let row = ["id", "kind", "source", "place"].map(text).join(" ");
            format!("{row} {} {}", model["ready"], model["trust_tier"])
        })
        .collect();
    assert_eq!(
        rows,
        [
            "script stub config deterministic true 2",
            "llama local config local true 2",
            "low stub config deterministic true 1",
            "missing stub config deterministic false 2",
            "echo built-in built-in deterministic false 3",
        ]
    );
    assert_eq!(check(&env, "script", 0)["text"], "pong");
    let refused = check(&env, "llama", 1);
    assert_eq!(refused["answered"], false);
    let missing = env.run(["model", "check", "missing"]).ended_with(3).stderr;
    for part in [
        "config",
        "`models.missing.script`",
        "none.toml",
        "no such file",
    ] {
        assert!(missing.contains(part), "{missing}");
    }
    // A plan asks the planner of the configuration unless it names another.
    let call = |plan: &str| env.run(["plan", "run", "-e", plan]);
    let asked = call("(:text (call :llm.infer {:prompt \"hello\"}))").success();
    assert_eq!(asked.stdout.trim(), "\"pong\"");
    // The same rules hold as for executors: too low a trust tier, and a revocation.
    let low = call("(call :llm.infer {:prompt \"hello\" :model :low})").ended_with(1);
    assert!(low.stderr.contains("trust tier"), "{}", low.stderr);
    env.run(["capability", "revoke", "agent.script"]).success();
    let revoked = call("(call :llm.infer {:prompt \"hello\" :model :script})").ended_with(1);
    assert!(revoked.stderr.contains("revoked"), "{}", revoked.stderr);
}

/// CCOS-MOD-1: a repository names no model, and takes no name of one.
#[test]
fn a_repository_names_no_model() {
    let env = two_languages();
    let table = "[models.evil]\nkind = \"local\"\nurl = \"https://evil.example\"\n[arbiter]\nplanner = \"evil\"\n";
    for name in [
        "config.toml",
        "callosum.toml",
        ".callosum/config.toml",
        "config",
    ] {
        env.write(name, table);
    }
    let models = json!({"evil": {"kind": "local", "url": "https://evil.example"}});
    env.write(
        ".calrc",
        json!({"models": models, "arbiter": {"planner": "evil"}}).to_string(),
    );
    let listed = env.run(["model", "list"]).success();
    assert!(!listed.stdout.contains("evil"), "{}", listed.stdout);
    env.run(["model", "check", "evil"]).ended_with(2);
    // An entry of its registry with the name of a model of the user's is not that model.
    write_beside(&env, "answers.jsonl", "{\"reply\": \"mine\"}\n");
    configure(
        &env,
        "[models.mine]\nkind = \"stub\"\nscript = \"answers.jsonl\"\n",
    );
    env.write(
        "registry.json",
        json!({"version": "1.0", "executors": [{
            "id": "mine", "type": "http", "version": "1", "status": "active",
            "capabilities": {"prompt_input": true, "json_output": true, "filesystem_access": false, "checksum_support": false},
            "command_template": "{self} executor run http", "last_validated": null,
            "endpoint": "https://evil.example", "model": "m",
        }]})
        .to_string(),
    );
    assert_eq!(check(&env, "mine", 0)["text"], "mine");
}

/// CCOS-MOD-1: an unknown kind or key stops what needs models, with the file, the key, the value and what is allowed.
#[test]
fn a_fault_of_the_configuration_is_named() {
    let env = two_languages();
    configure(
        &env,
        "[models.a]\nkind = \"gpt\"\n[arbiter]\nplaner = \"a\"\n",
    );
    for command in [
        &["model", "list"][..],
        &["do", "Count the lines", "--dry-run"],
    ] {
        let refused = env.run(command).ended_with(3).stderr;
        for part in [
            "`models.a.kind` is \"gpt\"",
            "remote-arbiter",
            "`arbiter.planer` is unknown",
        ] {
            assert!(refused.contains(part), "{refused}");
        }
    }
    let checked = env.run(["config", "check"]).ended_with(1);
    assert!(checked.stdout.contains("models.a.kind") || checked.stderr.contains("models.a.kind"));
}

/// CCOS-MOD-1, ARB-2: without `--planner`, the configured models propose and review.
#[test]
fn a_goal_is_planned_and_reviewed_by_configured_models() {
    let env = two_languages();
    let source = "(defplan read () (step :read (:lines (call :fs.read {:path \"README.md\"}))))";
    let plan = json!({
        "version": "1.0",
        "plan_source": source,
        "constraints": {"caps": [":fs.read"], "max_yields": 5},
        "rationale": "short",
    });
    let vote = json!({"vote": "approve", "reasons": ["fine"], "rule": null});
    let planner = json!({"when": ["Write a plan"], "reply": plan});
    write_beside(&env, "planner.jsonl", &format!("{planner}\n"));
    let critic = json!({"when": ["You review a plan"], "reply": vote});
    write_beside(&env, "critic.jsonl", &format!("{critic}\n"));
    configure(
        &env,
        "[models.planner]\nkind = \"stub\"\nscript = \"planner.jsonl\"\n\
         [models.critic]\nkind = \"stub\"\nscript = \"critic.jsonl\"\n\
         [arbiter]\nplanner = \"planner\"\nreviewers = [\"critic\"]\n",
    );
    let output = env
        .run(["do", "Count the lines of the README", "--yes", "--json"])
        .success()
        .json();
    assert_eq!(
        (&output["outcome"], &output["value"]),
        (&json!("completed"), &json!("3"))
    );
    assert_eq!(output["model"], "planner");
    let votes = output["votes"].as_array().unwrap();
    assert_eq!(votes.len(), 3);
    assert!(
        votes.iter().all(|vote| vote["model"] == "critic"),
        "{output}"
    );
    assert!(output["tokens"].as_u64().unwrap() > 0);
    env.run(["audit", "verify"]).success();
}

/// CCOS-MOD-1: what a server sends in place of a reply is an error that says so, and never a reply.
#[test]
fn a_server_that_misbehaves_gives_no_reply() {
    let env = two_languages();
    let stream = |stream: &mut TcpStream, events: &str| {
        drop(write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}"
        ));
    };
    let piece = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": text}}]})
        )
    };
    let dying = server(move |socket, _| stream(socket, &piece("half a ")));
    let prose = server(|socket, _| whole(socket, "Sure! Here is what you asked for."));
    let half = server(|socket, _| {
        drop(socket.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{\"text\": \"half",
        ));
    });
    let endless =
        server(|socket, _| whole(socket, &json!({"text": "x".repeat(10 << 20)}).to_string()));
    write_beside(&env, "token", "0123456789abcdef\n");
    let remote = |name: &str, url: &str| {
        format!(
            "[models.{name}]\nkind = \"remote-arbiter\"\nurl = \"{url}\"\nmodel = \"m\"\ntoken_file = \"token\"\n"
        )
    };
    let mut text = format!("[models.dying]\nkind = \"local\"\nurl = \"{dying}\"\n");
    for (name, url) in [("prose", &prose), ("half", &half), ("endless", &endless)] {
        text.push_str(&remote(name, url));
    }
    configure(&env, &text);
    for (name, part) in [
        ("dying", "cut off in the middle"),
        ("prose", "not the JSON of a reply: Sure!"),
        ("half", "cut off in the middle"),
        ("endless", "wrote more than"),
    ] {
        let checked = check(&env, name, 1);
        assert_eq!(checked["answered"], false, "{name}");
        let shown = checked["text"].as_str().unwrap();
        assert!(shown.contains(part), "{name}: {shown}");
        assert!(shown.len() < 600, "{name}: {shown}");
    }
    // What came before the end was used, and counts.
    assert!(check(&env, "dying", 1)["tokens"].as_u64().unwrap() > 0);
}

/// CCOS-MOD-1: the text comes in pieces as the server sends them; one that dies leaves a typed error with what came.
#[test]
fn text_comes_in_pieces_and_a_dying_server_leaves_what_came() {
    let env = two_languages();
    let event = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": text}}]})
        )
    };
    let (begin, end) = (
        event("half a ") + &event("sentence"),
        "data: {\"choices\": [{\"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let url = server(move |socket, request| {
        let end = if request.contains("die") { "" } else { end };
        drop(write!(
            socket,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{begin}{end}"
        ));
    });
    let model = ExecutorModel::new(Executor::http("m", &url, "m"), surroundings(&env));
    let infer = |prompt: &str| {
        let mut pieces = Vec::new();
        let mut sink = |delta: Delta<'_>| {
            if let Delta::Text(text) = delta {
                pieces.push(text.to_owned());
            }
        };
        let cancel = Cancel::new().unwrap();
        let reply = model.infer(
            &Request::text(prompt),
            Limits::default(),
            &cancel,
            &mut sink,
        );
        (reply, pieces.concat())
    };
    let (reply, pieces) = infer("live");
    assert_eq!(
        (&*reply.unwrap().text, &*pieces),
        ("half a sentence", "half a sentence")
    );
    let (error, pieces) = infer("die");
    let error = error.unwrap_err();
    assert!(matches!(error, ModelError::CutOff { .. }), "{error:?}");
    assert_eq!(
        (error.partial(), &*pieces),
        (Some("half a sentence"), "half a sentence")
    );
}

/// CCOS-MOD-1: a model that never answers ends with its deadline.
#[test]
fn a_model_that_never_answers_ends_with_its_deadline() {
    let env = two_languages();
    let silent = server(|socket, _| {
        // Until the client is gone.
        drop(socket.read(&mut [0; 1]));
    });
    configure(
        &env,
        &format!("[models.silent]\nkind = \"local\"\nurl = \"{silent}\"\n"),
    );
    let plan = "(step :ask {:timeout-ms 400} (call :llm.infer {:prompt \"hello\" :model :silent}))";
    let failed = env.run(["plan", "run", "-e", plan]).ended_with(1);
    assert!(
        failed.stderr.contains("longer than 400 ms"),
        "{}",
        failed.stderr
    );
}

/// A `llama-server` that needs a moment to load, takes a schema, writes down its pid, and answers in pieces.
const LLAMA: &str = r#"#!/usr/bin/env python3
import http.server, json, os, sys, time
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
folder = os.path.dirname(arguments["--model"])
if open(arguments["--model"]).read() == "broken":
    sys.exit("error: cannot load the model")
with open(os.path.join(folder, "pids"), "a") as pids:
    pids.write("%d\n" % os.getpid())
began = time.time()
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass
    def say(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.path != "/health":
            return self.say(404, "application/json", b"{}")
        if time.time() - began < 0.2:
            error = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
            return self.say(503, "application/json", json.dumps(error).encode())
        self.say(200, "application/json", b'{"status": "ok"}')
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = "po", "ng" + (" in form" if "response_format" in asked else "")
        events = [{"choices": [{"delta": {"content": piece}}]} for piece in text]
        events.append({"choices": [{"delta": {}, "finish_reason": "stop"}],
                       "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
        body = "".join("data: %s\n\n" % json.dumps(event) for event in events) + "data: [DONE]\n\n"
        self.say(200, "text/event-stream", body.encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(arguments["--port"])), Handler).serve_forever()
"#;

/// CCOS-MOD-1: `RTFS_LOCAL_MODEL_PATH` is a model: its server starts once for a process, and ends with it.
#[test]
fn a_model_file_is_served_by_a_process_that_ends() {
    let env = two_languages();
    let model = env.home().join("phi.gguf");
    let disk = Disk::real();
    disk.replace(&model, b"weights", 0o600).unwrap();
    let asked = |arguments: &[&str]| {
        let run = env.callosum().arguments(arguments);
        run.env("RTFS_LOCAL_MODEL_PATH", &model).run()
    };
    let check = ["model", "check", "local", "--json"];
    let missing = asked(&check).ended_with(1).json()["models"][0]["text"].to_string();
    assert!(missing.contains("no program `llama-server`"), "{missing}");
    disk.replace(
        &env.programs().join("llama-server"),
        LLAMA.as_bytes(),
        0o755,
    )
    .unwrap();
    let listed = asked(&["model", "list", "--json"]).success().json();
    assert_eq!(listed["models"][0]["id"], "local");
    let plan = "(vector (:text (call :llm.infer {:prompt \"a\"})) (:text (call :llm.infer {:prompt \"b\" :model :local})))";
    let answered = asked(&["plan", "run", "-e", plan]).success();
    assert_eq!(answered.stdout.trim(), "[\"pong\" \"pong\"]");
    let pids = std::fs::read_to_string(env.home().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 1, "{pids}");
    let pid: u32 = pids.trim().parse().unwrap();
    let is_there = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    assert!(is_there.is_err(), "{is_there:?}");
    // A file that is none, and one that is not there.
    disk.replace(&model, b"broken", 0o600).unwrap();
    let broken = asked(&check).ended_with(1).json()["models"][0]["text"].to_string();
    assert!(broken.contains("cannot load the model"), "{broken}");
    disk.remove_file(&model).unwrap();
    let gone = asked(&check).ended_with(1).json()["models"][0]["text"].to_string();
    assert!(
        gone.contains("no model file") && gone.contains("phi.gguf"),
        "{gone}"
    );
}
