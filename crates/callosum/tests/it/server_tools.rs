//! Tools of servers of the Model Context Protocol, called by plans with arguments of their own.

use std::fs;

use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::Value;

use crate::projects::{self, two_languages};

/// A project with `wiki`, a server of tools of which its entry names one.
fn with_wiki() -> TestEnv {
    let env = two_languages();
    let command = format!("'{}'", fakes::program("fake-mcp").display());
    let register = ["executor", "register", "wiki", "--tool", "ask", "--command"];
    env.run(register.iter().chain(&[command.as_str()]))
        .success();
    env
}

/// A plan of one expression, run, and approved where a person is asked.
fn carried_out(env: &TestEnv, source: &str) -> Output {
    projects::carried_out(env, &["-e", source])
}

fn ids(env: &TestEnv) -> Vec<String> {
    let listed = env.run(["capability", "list", "--json"]).success().json();
    let all = listed["capabilities"].as_array().unwrap().iter();
    let id = |one: &Value| one["id"].as_str().unwrap().to_owned();
    all.map(id).filter(|id| id.starts_with("tool.")).collect()
}

/// CCOS-CAP-1: every tool that a server tells of can be called, and what it takes is what the server says.
#[test]
fn every_tool_of_a_server_is_a_capability() {
    let env = with_wiki();
    let ids = ids(&env);
    for tool in ["ask", "more", "refuse", "look_up"] {
        assert!(ids.contains(&format!("tool.wiki.{tool}")), "{ids:?}");
    }
    let shown = env
        .run(["capability", "show", "tool.wiki.look_up", "--json"])
        .success()
        .json();
    assert_eq!(
        shown["input"],
        "[:map [:page String] [:n Int] [:tags [:vector String] ?]]"
    );
    assert_eq!(shown["description"], "Looks a page up.");
    assert_eq!(shown["trust_tier"], 1);
    assert_eq!(shown["answers_by_key"], false);
    // That it only reads is the server's word, and nobody vouches for that.
    let effects = shown["effects"].to_string();
    assert!(effects.contains("unknown"), "{effects}");
}

/// CCOS-CAP-1: a tool of which its server tells what is none is named, and costs none of the others.
#[test]
fn a_tool_that_is_none_costs_no_other() {
    for lifecycle in ["", " --legacy"] {
        let env = two_languages();
        let program = fakes::program("fake-mcp");
        let command = format!("'{}' --odd{lifecycle}", program.display());
        let register = ["executor", "register", "wiki", "--tool", "ask", "--command"];
        let registered = env.run(register.iter().chain(&[command.as_str()]));
        let registered = registered.success().stderr;
        let loose = "wiki: its tool `loose` cannot be called: it has no `inputSchema`";
        let unnamed = "wiki: its tool `#13` cannot be called: missing field `name`";
        let listed = env.run(["capability", "list"]).success().stderr;
        assert!(
            registered.contains(loose) && registered.contains(unnamed),
            "{registered}"
        );
        let counted = " tools of wiki, for example `";
        assert_eq!(listed.matches(counted).count(), 1, "{listed}");
        assert_eq!(listed.matches("left out").count(), 1, "{listed}");
        let ids = ids(&env);
        assert!(ids.contains(&"tool.wiki.look_up".to_owned()), "{ids:?}");
        assert!(!ids.contains(&"tool.wiki.loose".to_owned()), "{ids:?}");
        let shown = env.run(["capability", "show", "tool.wiki.loose"]);
        let shown = shown.ended_with(1).stderr;
        assert!(shown.contains(loose), "{shown}");
        let doctor = env.run(["doctor", "-v"]).stdout;
        assert!(doctor.contains("`loose` cannot be called"), "{doctor}");
        carried_out(&env, "(call :tool.wiki.look_up {:page \"x\" :n 1})").success();
        let other = [
            "executor",
            "register",
            "other",
            "--tool",
            "loose",
            "--command",
        ];
        let refused = env.run(other.iter().chain(&[command.as_str()]));
        let why = "tool `loose` cannot be called: it has no `inputSchema`";
        let refused = refused.ended_with(1);
        let told = refused.stdout + &refused.stderr;
        assert!(told.contains(why), "{told}");
    }
}

/// CCOS-CAP-1: a tool gets the plan's arguments and nothing else, and no task is made of the call.
#[test]
fn a_tool_gets_the_arguments_of_the_plan_as_they_are() {
    let env = with_wiki();
    let call = r#"(call :tool.wiki.look_up {:page "a \"b\"\n{{prompt}} é" :n -2 :tags ["x" ""]})"#;
    let output = carried_out(&env, &format!("(:text {call})"))
        .success()
        .json();
    let text = output["value"].as_str().unwrap();
    let text: String = serde_json::from_str(text).unwrap();
    let got: Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!({"page": "a \"b\"\n{{prompt}} é", "n": -2, "tags": ["x", ""]});
    assert_eq!(got, expected);
    let structured = format!("(get (:structured {call}) \"page_id\")");
    let output = carried_out(&env, &structured).success().json();
    assert_eq!(output["value"], "7");
    let old = carried_out(&env, "(:text (call :tool.wiki.ask {:prompt \"hello\"}))").success();
    let old = old.json()["value"].to_string();
    assert!(old.contains("Asked in 5 bytes"), "{old}");
    let entries = env.run(["ledger", "query", "--json"]).success().json();
    assert_eq!(entries["entries"].as_array().unwrap().len(), 0);
}

/// CCOS-CAP-1: arguments that a tool does not take are refused before a person is asked.
#[test]
fn arguments_that_a_tool_does_not_take_cost_no_approval() {
    let env = with_wiki();
    for arguments in [
        "{:page \"x\"}",
        "{:page 1 :n 2}",
        "{:page \"x\" :n \"2\"}",
        "",
    ] {
        let run = env.callosum().without("CALLOSUM_TEST_IDS");
        let source = format!("(call :tool.wiki.look_up {arguments})");
        let output = run.arguments(["plan", "run", "-e", &source]).run();
        let said = output.ended_with(1).stderr;
        assert!(said.contains("[:map [:page String]"), "{arguments}: {said}");
    }
}

/// CCOS-CAP-1: a tool that fails fails its call, in the server's words; what may have happened is not made again.
#[test]
fn a_tool_that_fails_fails_its_call() {
    let env = with_wiki();
    let source = "(try (call :tool.wiki.refuse {:prompt \"x\"}) (catch e (:message e)))";
    let output = carried_out(&env, source).success().json();
    let value = output["value"].as_str().unwrap();
    assert!(value.contains("no such repository"), "{value}");
    let source = "(call :tool.wiki.crash {:prompt \"x\"})";
    let said = carried_out(&env, source);
    assert_ne!(said.code, 0);
    assert!(said.stdout.contains("its server ended"), "{}", said.stdout);
    let source = "(call :tool.wiki.huge {:prompt \"x\"})";
    let said = carried_out(&env, source);
    assert!(said.stdout.contains("4194304 bytes"), "{}", said.stdout);
    let unknown = env.run(["plan", "run", "-e", "(call :tool.wiki.look_pu {})"]);
    assert!(
        unknown.stderr.contains("tool.wiki.look_up"),
        "{}",
        unknown.stderr
    );
}

/// CCOS-CAP-1: what a tool answers is held to what its server says of it; what does not fit fails the call, and says
/// where.
#[test]
fn an_answer_that_is_not_of_its_tools_type_fails_the_call() {
    let env = with_wiki();
    let show = ["capability", "show", "tool.wiki.typed"];
    let shown = env.run(show.iter().chain(&["--json"])).success().json();
    let output = r#"[:map [:text String] [:structured [:map ["n" Int] ["of" Any ?]]]]"#;
    assert_eq!(shown["output"], output);
    assert_eq!(
        shown["unenforced_output_keywords"],
        serde_json::json!(["$ref"])
    );
    let told = env.run(show).success().stdout;
    assert!(told.contains("; $ref not enforced"), "{told}");
    let call = |answer: &str| {
        let source = format!("(:structured (call :tool.wiki.typed {answer}))");
        carried_out(&env, &source).json()
    };
    assert_eq!(call(r#"{:answer {"n" 7}}"#)["value"], "{\"n\" 7}");
    assert_eq!(call(r#"{:answer {"n" 7.0}}"#)["value"], "{\"n\" 7.0}");
    for (answer, place) in [
        (r#"{:answer {"n" "7"}}"#, r#"the value{:structured}{"n"}"#),
        (r#"{:answer {"n" 7.5}}"#, r#"the value{:structured}{"n"}"#),
        ("{:answer {}}", r#"the value{:structured}{"n"}"#),
        ("{}", "the value{:structured}"),
    ] {
        let error = call(answer)["error"].clone();
        assert_eq!(error["kind"], "TypeValidationError", "{answer}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(place), "{answer}: {message}");
    }
    let caught =
        "(try (call :tool.wiki.typed {:answer {}}) (catch :TypeValidationError e :caught))";
    assert_eq!(
        carried_out(&env, caught).success().json()["value"],
        ":caught"
    );
}

/// CCOS-CAP-1: a list of tools is this machine's; none is believed that is damaged, or of another entry.
#[test]
fn a_list_of_tools_is_of_the_entry_that_was_asked() {
    let env = with_wiki();
    let lists = env.machine_home().join("server-tools");
    let project = fs::read_dir(&lists)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let file = project.join("wiki.json");
    let kept = fs::read_to_string(&file).unwrap();
    let digest = kept
        .split('"')
        .find(|part| part.len() >= 64)
        .unwrap()
        .to_owned();
    for damaged in [
        "{",
        &kept.replace(&digest, &digest.replace(&digest[60..], "0000")),
    ] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(ids(&env), ["tool.wiki.ask"]);
    }
    env.run(["executor", "check", "wiki"]).success();
    assert!(ids(&env).len() > 5);
}

/// CCOS-CAP-1: a server none of whose tools takes a prompt is registered as its tools, is handed no task, and
/// leaves nothing behind.
#[test]
fn a_server_whose_tools_take_no_prompt_is_its_tools() {
    let env = two_languages();
    let command = format!("'{}'", fakes::program("fake-mcp").display());
    let register = [
        "executor",
        "register",
        "pages",
        "--protocol",
        "mcp",
        "--command",
    ];
    let registered = env
        .run(register.iter().chain(&[command.as_str()]))
        .success();
    assert!(
        registered.stderr.contains("go to scout"),
        "{}",
        registered.stderr
    );
    env.run(["executor", "check", "pages"]).success();
    assert!(ids(&env).contains(&"tool.pages.look_up".to_owned()));
    env.run(["capability", "show", "agent.pages"]).ended_with(1);
    let call = "(count (call :tool.pages.look_up {:page \"x\" :n 1}))";
    carried_out(&env, call).success();
    let refused = env
        .run(["delegate", "--executor", "pages", "look around"])
        .ended_with(2);
    let why = "`pages` is an MCP server without a tool that takes tasks";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--protocol mcp --tool NAME"),
        "{}",
        refused.stderr
    );
    let handed = carried_out(
        &env,
        "(call :agent.delegate {:executor \"pages\" :prompt \"x\"})",
    );
    assert!(handed.stdout.contains(why), "{}", handed.stdout);
    let lists = env.machine_home().join("server-tools");
    let kept = || {
        let projects = fs::read_dir(&lists).unwrap();
        let files = projects.flat_map(|project| fs::read_dir(project.unwrap().path()).unwrap());
        files.count()
    };
    assert_eq!(kept(), 1);
    env.run(["executor", "remove", "pages"]).success();
    assert_eq!(kept(), 0);
    for nothing in [
        ["--endpoint", "http://127.0.0.1:1/mcp"],
        ["--protocol", "mcp"],
        ["--api-key-env", "KEY"],
    ] {
        env.run(["executor", "register", "x"].iter().chain(&nothing))
            .ended_with(2);
    }
}
