//! Tools of servers of the Model Context Protocol, called as executors.

use callosum_executor::{
    protocol::Request,
    registry::{Executor, Kind},
    runner::{self, RunError, Sign},
};
use callosum_testkit::{Output, ServerBehavior, TestEnv, ToolServer, fakes, with_time_enough};
use serde_json::Value;

use crate::projects::{surroundings, two_languages};

fn register(env: &TestEnv, tool: &str, options: &str, more: &[&str]) -> i32 {
    let command = format!("'{}' {options}", fakes::program("fake-mcp").display());
    let arguments = [
        "executor",
        "register",
        tool,
        "--command",
        &command,
        "--tool",
        tool,
    ];
    env.run(arguments.iter().chain(more)).code
}

fn delegate(env: &TestEnv, executor: &str, code: i32) -> Value {
    let run = env.callosum();
    let run = run.arguments(["delegate", "Map it.", "--executor", executor, "--json"]);
    run.env("CAL_RETRY_MAX", "0").run().ended_with(code).json()
}

/// CAL-EXE-2: a server that is registered without a tool says nothing to what executors are asked.
#[test]
fn whoever_forgets_the_tool_is_told_of_it() {
    let env = two_languages();
    let mute = fakes::fake("--empty --always");
    let register = ["executor", "register", "mute", "--command", &mute];
    let refused = env.run(register).ended_with(1);
    assert!(
        refused
            .stderr
            .contains("if it is an MCP server: callosum executor register mute"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("--tool NAME"), "{}", refused.stderr);
}

/// CAL-EXE-2, CAL-COM-1: a tool is called with the prompt, by either lifecycle, and its answer is in
/// the ledger.
#[test]
fn a_tool_answers_into_the_ledger() {
    for (options, version) in [("", "2.0.0"), ("--legacy", "1.0.0")] {
        let env = two_languages();
        assert_eq!(register(&env, "ask", options, &[]), 0);
        let listed = env.run(["executor", "list", "--json"]).success().json();
        let entry = listed["executors"]
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["id"] == "ask");
        assert_eq!(entry.unwrap()["version"], version);
        assert_eq!(entry.unwrap()["type"], "mcp");
        let output = delegate(&env, "ask", 0);
        let summary = output["summary"].as_str().unwrap();
        assert!(
            summary.starts_with("It adds: `mod sum;` [src/main.rs:3]. Asked in "),
            "{summary}"
        );
        assert_eq!(output["citations"]["verified"], 1, "{output}");
        let id = output["task_id"].as_str().unwrap();
        let shown = env.run(["ledger", "show", id, "--json"]).success();
        assert_eq!(
            shown.json().pointer("/metadata/client"),
            Some(&"mcp".into())
        );
        for (tool, bounds) in [
            ("structured", &[][..]),
            ("noise", &[]),
            // Progress is life: it takes longer than the silence that is allowed, and each step comes sooner.
            ("drip", &["--idle-timeout", "4s"]),
        ] {
            assert_eq!(register(&env, tool, options, bounds), 0);
            let summary = delegate(&env, tool, 0)["summary"].clone();
            assert_eq!(summary, "It adds: `mod sum;` [src/main.rs:3].", "{tool}");
        }
    }
}

/// CAL-ERR-1, CAL-ERR-2, CAL-ERR-3: each way of failing has its code and its cause in words.
#[test]
fn a_tool_that_fails_is_told_with_code_and_cause() {
    let env = two_languages();
    for (tool, options, code, says) in [
        ("refuse", "", "E001", "failed: no such repository"),
        ("crash", "", "E003", "its server ended"),
        ("stall", "", "E002", "was silent for 1500 ms"),
        ("stall", "--deaf", "E002", "was silent for 1500 ms"),
        ("huge", "", "E006", "more than 4194304 bytes"),
    ] {
        let bounds: &[&str] = if tool == "stall" {
            &["--idle-timeout", "1500ms"]
        } else {
            &[]
        };
        assert_eq!(register(&env, tool, options, bounds), 0, "{tool}");
        let output = delegate(&env, tool, 1);
        assert_eq!(output["error"]["code"], code, "{tool}: {output}");
        let message = output["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{tool}: {message}");
    }
}

/// REQ-EXE-003: what is no such server, has no such tool, or wants more than a prompt stays inactive
/// and says why.
#[test]
fn a_tool_that_cannot_be_called_is_inactive() {
    let env = two_languages();
    for (tool, options, says) in [
        ("nothing", "", "does not offer `nothing`, but `ask`"),
        ("more", "", "requires `repo` besides the prompt"),
        ("ask", "--garbage", "cannot reach its server"),
    ] {
        assert_eq!(register(&env, tool, options, &[]), 1, "{tool}");
        let check = env.run(["executor", "check", tool, "--json"]).ended_with(1);
        assert!(check.stdout.contains(says), "{tool}: {}", check.stdout);
    }
    // It lives, and says nothing that is an answer: the silence is told with what it did say.
    let program = format!("'{}' --babble", fakes::program("fake-mcp").display());
    let said = "it wrote a line that is not a message: `Welcome to no protocol at all`";
    with_time_enough(|milliseconds| {
        let impatient = || {
            let seconds = (milliseconds / 1000).to_string();
            env.callosum().env("CALLOSUM_TEST_PATIENCE", seconds)
        };
        let quiet = format!("{milliseconds}ms");
        let register = ["executor", "register", "ask", "--tool", "ask"];
        let bounds = ["--command", &program, "--idle-timeout", &quiet];
        let register = impatient().arguments(register).arguments(bounds);
        register.run().ended_with(1);
        let check = ["executor", "check", "ask", "--json"];
        let check = impatient().arguments(check).run().ended_with(1);
        check.stdout.contains(said).then_some(())
    });
    let doctor = env.run(["doctor", "-v"]).stdout;
    assert!(doctor.contains("its handshake failed at ping"), "{doctor}");
    let register = ["executor", "register", "gone", "--tool", "x", "--command"];
    let gone = env
        .run(register.iter().chain(&["no-such-program-anywhere"]))
        .ended_with(1);
    assert!(gone.stderr.contains("was not found"), "{}", gone.stderr);
}

/// What a server wrote down that it was told when nobody waited any more.
fn took_leave(heard: &str) -> bool {
    let (_, after) = heard
        .split_once("notifications/cancelled")
        .unwrap_or_default();
    after.contains("\"requestId\"") && after.contains("end of input")
}

/// CAL-ERR-2: at a deadline a server is told which call nobody waits for any more, and then that
/// nothing more comes.
#[test]
fn a_server_is_told_before_it_is_ended() {
    let env = two_languages();
    let options = "--heard notes/heard";
    for bound in ["--idle-timeout", "--timeout"] {
        with_time_enough(|milliseconds| {
            env.write("notes/heard", "");
            let time = format!("{milliseconds}ms");
            let more = [bound, &time, "--allow-write", "notes/"];
            assert_eq!(register(&env, "stall", options, &more), 0);
            let output = delegate(&env, "stall", 1);
            assert_eq!(output["error"]["code"], "E002", "{output}");
            took_leave(&env.read("notes/heard")).then_some(())
        });
    }
}

/// CAL-ERR-2: and so it is where somebody cancels.
#[test]
fn a_server_is_told_that_somebody_cancelled() {
    let env = two_languages();
    env.write("heard", "");
    let program = fakes::program("fake-mcp");
    let template = format!("'{}' --heard heard", program.display());
    let mut executor = Executor::cli("stall", &template);
    executor.kind = Kind::Mcp;
    executor.tool = Some("stall".to_owned());
    let surroundings = surroundings(&env);
    let cancel = surroundings.cancel.clone();
    let answer = runner::run(&executor, &Request::bare("x"), &surroundings, &mut |sign| {
        if sign == Sign::Doing("step 0") {
            cancel.cancel();
        }
    });
    assert!(
        matches!(answer, Err(RunError::Cancelled { .. })),
        "{answer:?}"
    );
    let heard = env.read("heard");
    assert!(took_leave(&heard), "{heard}");
}

fn register_remote(env: &TestEnv, tool: &str, url: &str, more: &[&str]) -> Output {
    let register = [
        "executor",
        "register",
        tool,
        "--endpoint",
        url,
        "--tool",
        tool,
    ];
    let run = env.callosum().arguments(register.iter().chain(more));
    run.env("TOOL_KEY", "sesame").run()
}

/// CAL-EXE-2, CAL-COM-1: a tool of a server elsewhere is called over HTTP, by either lifecycle, and
/// its answer is in the ledger.
#[test]
fn a_tool_elsewhere_answers_into_the_ledger() {
    for (legacy, version) in [(false, "2.5.0"), (true, "1.5.0")] {
        let env = two_languages();
        let manners = ServerBehavior {
            legacy,
            ..ServerBehavior::default()
        };
        let server = ToolServer::start(manners);
        register_remote(&env, "ask", &server.url(), &[]).success();
        let listed = env.run(["executor", "list", "--json"]).success().stdout;
        assert!(listed.contains(version), "{listed}");
        let output = delegate(&env, "ask", 0);
        assert_eq!(output["summary"], "It adds: `mod sum;` [src/main.rs:3].");
        assert_eq!(output["citations"]["verified"], 1, "{output}");
        // Nobody else was asked to be trusted with it: it is this program that runs.
        let entry: Value = serde_json::from_str(&env.read("registry.json")).unwrap();
        assert!(
            entry.to_string().contains("{self} executor run mcp"),
            "{entry}"
        );
    }
}

/// CAL-ERR-2: a server elsewhere is told at the deadline that nobody waits any more; by the newer
/// lifecycle, the end of the connection says so.
#[test]
fn a_server_elsewhere_is_told_before_the_connection_ends() {
    let env = two_languages();
    let manners = ServerBehavior {
        legacy: true,
        ..ServerBehavior::default()
    };
    let server = ToolServer::start(manners);
    let cancelled = with_time_enough(|milliseconds| {
        let quiet = ["--idle-timeout", &format!("{milliseconds}ms")];
        register_remote(&env, "stall", &server.url(), &quiet).success();
        let output = delegate(&env, "stall", 1);
        assert_eq!(output["error"]["code"], "E002", "{output}");
        let mut told = server.heard().into_iter();
        told.find(|message| message["method"] == "notifications/cancelled")
    });
    let request = &cancelled["params"]["requestId"];
    assert!(!request.is_null(), "{cancelled}");
}

/// LOA-SEC-1: the key of a server elsewhere comes from the variable that the entry names, and goes
/// over https or to this machine only.
#[test]
fn a_key_for_tools_is_held_like_one_for_models() {
    let env = two_languages();
    let manners = ServerBehavior {
        key: Some("sesame"),
        ..ServerBehavior::default()
    };
    let server = ToolServer::start(manners);
    let without = register_remote(&env, "ask", &server.url(), &[]).ended_with(1);
    assert!(
        without.stderr.contains("is not logged in"),
        "{}",
        without.stderr
    );
    let key = ["--api-key-env", "TOOL_KEY"];
    register_remote(&env, "ask", &server.url(), &key).success();
    let unset = env.run(["executor", "check", "ask"]).ended_with(1);
    assert!(unset.stdout.contains("TOOL_KEY"), "{}", unset.stdout);
    let clear = register_remote(&env, "far", "http://tools.example.org/mcp", &key).ended_with(2);
    assert!(
        clear.stderr.contains("a key is only sent over https"),
        "{}",
        clear.stderr
    );
    let away = register_remote(&env, "away", "http://127.0.0.1:1/mcp", &[]).ended_with(1);
    assert!(
        away.stderr.contains("cannot reach its server"),
        "{}",
        away.stderr
    );
}
