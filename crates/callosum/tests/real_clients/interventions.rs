//! Errors of the commands that a client runs: its model is sent a message, and the fix that another client found.

use callosum_testkit::model::{Call, ScriptTurn};
use serde_json::json;

use crate::{client::Client, install::Installed, sessions::ask, stage::Stage};

/// A test that fails until a file is there.
const CHECK: &str = "import os\n\n\ndef check():\n    if not os.path.exists(\"ready.txt\"):\n        \
                     raise ValueError(\"the fixture is not ready\")\n\n\ncheck()\n";

/// What the test prints, as another client reports it.
const FAILED: &str = "Traceback (most recent call last):\n  File \"check.py\", line 9, in <module>\n    check()\n  File \
                      \"check.py\", line 6, in check\n    raise ValueError(\"the fixture is not ready\")\nValueError: \
                      the fixture is not ready\n";

/// Runs commands by the client's model, and returns its requests that carry tools.
fn requests(stage: &Stage<'_>, work: &[String]) -> Vec<String> {
    let before = stage.server.heard().len();
    ask(stage, &[], "Make the check pass.", work).unwrap();
    let heard = stage.server.heard();
    let bodies = heard[before..]
        .iter()
        .map(|heard| serde_json::to_string(&heard.body).unwrap());
    bodies.filter(|body| body.contains("\"tools\"")).collect()
}

/// CAKE-OP-1, CAKE-KNOW-1, CAKE-ADP-1: after a test has failed twice the model is sent a message; what makes it pass is
/// learned. An error that another client has fixed brings its fix with the first occurrence.
pub(crate) fn is_sent_the_fix_of_another(client: &Client, installed: &Installed) {
    if client.name == "opencode" {
        return is_sent_it_by_a_plugin(client, installed);
    }
    let stage = Stage::new(client, installed);
    if client.shell.is_none() {
        return;
    }
    let init = ["init", "--all", "--share", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    stage.env.write("check.py", CHECK);
    let run = || "python3 check.py".to_owned();
    let work = [run(), run(), run(), "touch ready.txt".to_owned(), run()];
    let sent = requests(&stage, &work);
    let says = "Operator (CAKE): Stop. ";
    assert!(!sent[1].contains(says), "{}", sent[1]);
    assert!(sent[2].contains(says), "{}", sent[2]);
    let last = sent.last().unwrap();
    assert_eq!(last.matches(says).count(), 1, "{last}");
    let listed = stage.env.run(["recall", "list", "--json"]).success().json();
    let error = &listed["errors"][0];
    assert_eq!(error["error_type"], "ValueError", "{listed}");
    assert_eq!(error["occurrence_count"], 3, "{listed}");
    assert_eq!(error["success_count"], 1, "{listed}");
    let signature = error["error_signature"].as_str().unwrap();
    let shown = stage
        .env
        .run(["recall", "show", signature, "--json"])
        .success()
        .json();
    assert_eq!(
        shown["fixes"][0]["commands"][0], "touch ready.txt",
        "{shown}"
    );
    assert_eq!(shown["fixes"][0]["client"], client.name, "{shown}");

    // In another project, another client has hit the error and fixed it.
    let stage = Stage::new(client, installed);
    stage.callosum().arguments(init).run().success();
    stage.env.write("check.py", CHECK);
    let other = if client.name == "codex" {
        "claude"
    } else {
        "codex"
    };
    for (run, output) in [
        ("python3 check.py", FAILED),
        ("touch ready.txt", ""),
        ("python3 check.py", ""),
    ] {
        let response = match other {
            "codex" => json!(output),
            _ => json!({"stdout": output, "stderr": "", "interrupted": false}),
        };
        let event = json!({
            "hook_event_name": "PostToolUse", "session_id": "other", "cwd": stage.env.project(),
            "tool_name": "Bash", "tool_input": {"command": run}, "tool_response": response,
        });
        let hook = stage
            .env
            .callosum()
            .arguments(["hook", other, "post-tool-use"]);
        hook.input(event.to_string()).run().success();
    }
    let sent = requests(&stage, &[run(), "touch ready.txt".to_owned(), run()]);
    assert!(!sent[0].contains(says), "{}", sent[0]);
    let fix = format!("(by {other}");
    assert!(
        sent[1].contains(says) && sent[1].contains(&fix),
        "{}",
        sent[1]
    );
    assert!(sent[1].contains("touch ready.txt"), "{}", sent[1]);
}

/// The same by our plugin: the message is behind the output of the command.
fn is_sent_it_by_a_plugin(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let copy = stage.env.home().join("bin/callosum");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::copy(callosum_testkit::fakes::program("callosum"), &copy).unwrap();
    let init = stage.dressed(stage.env.program(copy.clone()));
    init.arguments(["init", "--guard", "--client", client.name])
        .run()
        .success();
    stage.env.write("check.py", CHECK);
    let shell = |command: &str| ScriptTurn {
        calls: vec![Call {
            name: "bash".to_owned(),
            input: json!({"command": command, "description": "it"}),
            ..Call::default()
        }],
        ..ScriptTurn::default()
    };
    let run = "python3 check.py";
    let turns = [run, run, "touch ready.txt", run].map(shell);
    let turns = [&turns[..], &[ScriptTurn::text("that was all")]].concat();
    let before = stage.server.heard().len();
    let prompt = format!("Do it. {}", ScriptTurn::script(&turns));
    let ended = stage.client().arguments(client.arguments);
    ended.arguments([prompt]).run().success();
    let heard = stage.server.heard();
    let bodies = heard[before..]
        .iter()
        .map(|heard| serde_json::to_string(&heard.body).unwrap());
    let all: String = bodies.collect();
    assert!(all.contains("Operator (CAKE): Stop. "), "{all}");
    let listed = stage.callosum().arguments(["recall", "list", "--json"]);
    let listed = listed.run().success().json();
    assert_eq!(listed["errors"][0]["success_count"], 1, "{listed}");
    assert_eq!(listed["errors"][0]["last_client"], "opencode", "{listed}");
}
