//! Capabilities over time: versions that are accepted or not, calls that are stopped, outcomes, quotas.

use std::{
    fs,
    path::PathBuf,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::{Value, json};

use crate::{
    projects::{begun, carried_out, permit_all, register_with, two_languages},
    scripts::script,
};

/// A project with `wiki`, a server of tools that plans may call.
fn with_wiki() -> TestEnv {
    let env = two_languages();
    permit_all(&env);
    let command = format!("'{}'", fakes::program("fake-mcp").display());
    let register = ["executor", "register", "wiki", "--tool", "ask", "--command"];
    env.run(register.iter().chain(&[command.as_str()]))
        .success();
    env
}

/// The list of tools that the machine keeps of `wiki`.
fn kept_tools(env: &TestEnv) -> PathBuf {
    let folder = env.machine_home().join("server-tools");
    let projects = fs::read_dir(folder).unwrap();
    let lists = projects.map(|project| project.unwrap().path().join("wiki.json"));
    lists.into_iter().find(|list| list.exists()).unwrap()
}

/// Has the server list another schema for the arguments of `look_up`, as it would at its next handshake.
fn list_another(env: &TestEnv, edit: impl Fn(&mut Value)) {
    let file = kept_tools(env);
    let mut kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let tools = kept["tools"].as_array_mut().unwrap();
    let tool = tools.iter_mut().find(|tool| tool["name"] == "look.up");
    edit(&mut tool.unwrap()["input_schema"]);
    fs::write(&file, kept.to_string()).unwrap();
}

fn look_up(env: &TestEnv) -> Output {
    let call = "(:text (call :tool.wiki.look_up {:page \"x\" :n 1 :lang \"en\"}))";
    carried_out(env, &["-e", call])
}

fn shown(env: &TestEnv, name: &str) -> Value {
    let show = ["capability", "show", name, "--json"];
    env.run(show).success().json()
}

/// CCOS-CAP-1: the first sight and compatible changes of a tool are accepted; one that takes less is refused until a person
/// accepts it, with what changed.
#[test]
fn a_tool_that_takes_less_is_refused_until_a_person_accepts_it() {
    let env = with_wiki();
    assert_eq!(
        shown(&env, "tool.wiki.look_up")["accepted_version"],
        Value::Null
    );
    look_up(&env).success();
    let first = shown(&env, "tool.wiki.look_up");
    // As the server states it.
    assert_eq!(first["accepted_version"], "2.0.0", "{first}");

    list_another(&env, |schema| {
        schema["properties"]["n"] = json!({"type": "number"});
    });
    look_up(&env).success();
    let second = shown(&env, "tool.wiki.look_up");
    assert_eq!(second["accepted_version"], "2.1.0", "{second}");
    assert_eq!(second["last_change"]["level"], "minor");

    list_another(&env, |schema| {
        schema["required"] = json!(["page", "n", "lang"]);
    });
    let why = "from 2.1.0 to 3.0.0: its arguments at `{:lang}` no longer take an absent key";
    let refused = look_up(&env).ended_with(1);
    let refused = refused.stdout + &refused.stderr;
    assert!(refused.contains(why), "{refused}");
    let remedy = "callosum capability accept tool.wiki.look_up";
    assert!(refused.contains(remedy), "{refused}");
    // A look changes nothing, and the other tools of the server are not held back.
    let text = env.run(["capability", "show", "tool/wiki/look_up"]);
    let text = text.success().stdout;
    assert!(text.contains("no longer take an absent key"), "{text}");
    assert!(text.contains(remedy), "{text}");
    let listed = env.run(["capability", "list"]).success().stdout;
    let line = listed
        .lines()
        .find(|line| line.contains("tool.wiki.look_up"));
    assert!(line.unwrap().contains("changed"), "{listed}");
    carried_out(&env, &["-e", "(call :tool.wiki.ask {:prompt \"hello\"})"]).success();

    let accepted = env.run(["capability", "accept", "tool.wiki.look_up", "--json"]);
    let accepted = accepted.success().json();
    assert_eq!(accepted["version"], "3.0.0");
    assert_eq!(accepted["changed"], true);
    look_up(&env).success();
    let third = shown(&env, "tool.wiki.look_up");
    assert_eq!(third["pending_change"], Value::Null);
    assert_eq!(third["last_change"]["from"], "2.1.0");
    let again = env.run(["capability", "accept", "tool.wiki.look_up", "--json"]);
    assert_eq!(again.success().json()["changed"], false);
    let records = env.run(["audit", "query", "--event", "trust", "--json"]);
    let records = records.success().json().to_string();
    assert!(
        records.contains("\"accepted\"") && records.contains("3.0.0"),
        "{records}"
    );
    env.run(["capability", "accept", "fs.read"]).ended_with(2);
    env.run(["capability", "accept", "no.such"]).ended_with(1);

    let folder = env.machine_home().join("capabilities/accepted");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let file = files
        .into_iter()
        .find(|file| file.extension().is_some_and(|is| is == "json"));
    fs::write(file.unwrap(), "{").unwrap();
    let broken = look_up(&env).ended_with(3).stderr;
    assert!(broken.contains("capabilities/accepted"), "{broken}");
}

/// CCOS-CAP-1: an executor whose entry asks for more is refused, also through `:agent.delegate`.
#[test]
fn an_executor_that_may_do_more_waits_for_a_person() {
    let env = two_languages();
    permit_all(&env);
    register_with(&env, "echo", &fakes::fake(""), &[]);
    let direct = "(:summary (call :agent.echo {:prompt \"a\"}))";
    carried_out(&env, &["-e", direct]).success();
    register_with(&env, "echo", &fakes::fake(""), &["--allow-write", "out/"]);
    let named = "(:summary (call :agent.delegate {:executor \"echo\" :prompt \"a\"}))";
    for plan in [direct, named] {
        let refused = carried_out(&env, &["-e", plan]).ended_with(1);
        let refused = refused.stdout + &refused.stderr;
        assert!(
            refused.contains("has the effect `writes-files` now"),
            "{refused}"
        );
    }
    env.run(["capability", "accept", "agent.echo"]).success();
    carried_out(&env, &["-e", direct]).success();
}

/// A number of seconds that no other process sleeps.
fn lullaby(of: &str) -> String {
    let digits: u32 = of.bytes().map(u32::from).sum();
    format!("6{:07}{digits:06}", std::process::id())
}

/// How many processes sleep that long.
fn sleepers(lullaby: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap();
    let lines = processes.filter_map(|process| {
        let file = process.ok()?.path().join("cmdline");
        fs::read(file).ok()
    });
    let sleeps = |line: &Vec<u8>| {
        let mut words = line.split(|byte| *byte == 0);
        words.any(|word| word == lullaby.as_bytes())
    };
    lines.filter(sleeps).count()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_mins(5), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn value_of(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let output: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output["outcome"], "completed", "{output}");
    output["value"].to_string()
}

/// CCOS-GOV-1: what is revoked or forbidden while it is being made is stopped, with its processes; the plan gets a failure
/// that it can catch, and the run's record names the reason.
#[test]
fn a_call_that_is_under_way_is_stopped_when_it_is_revoked() {
    let forbid = "// callosum-constitution: format 1, version 2\n@id(\"no-slow\") forbid (principal, action, \
                  resource == Capability::\"agent.slow\");";
    for (call, change, why) in [
        (
            "agent.slow {",
            "revoke",
            "`agent.slow` was revoked while running",
        ),
        (
            "agent.delegate {:executor \"slow\"",
            "revoke",
            "`agent.slow` was revoked while running",
        ),
        (
            "agent.delegate {",
            "revoke",
            "`agent.slow` was revoked while running",
        ),
        (
            "agent.slow {",
            "forbid",
            "`agent.slow` was forbidden by project.no-slow while running",
        ),
    ] {
        let name = lullaby(&format!("{call}{change}"));
        let env = two_languages();
        permit_all(&env);
        let deed =
            format!("subprocess.Popen([\"sleep\", \"{name}\"], start_new_session=True).wait()");
        env.write("tools/slow.py", script(&deed));
        register_with(
            &env,
            "slow",
            "python3 tools/slow.py",
            &["--idle-timeout", "10m"],
        );
        env.run(["executor", "enable", "slow"]).success();
        let plan = format!(
            "(try (call :{call} :prompt \"work\"}}) (catch :SecurityViolation e (:message e)))"
        );
        let (child, run) = begun(&env, &plan);
        wait_for("it never slept", || sleepers(&name) == 1);
        if change == "revoke" {
            env.run(["capability", "revoke", "agent.slow"]).success();
        } else {
            env.write(".cal_constitution.cedar", forbid);
        }
        let value = value_of(child);
        assert!(value.contains(why), "{call}{change}: {value}");
        assert_eq!(sleepers(&name), 0, "{call}{change}");
        let record = env.run(["plan", "show", &run, "--tree"]).success().stdout;
        assert!(record.contains("while running"), "{record}");
        env.run(["audit", "verify"]).success();
    }
}

/// CCOS-CAP-1: what calls came to becomes a score, by which capabilities are ordered.
#[test]
fn outcomes_of_calls_become_scores() {
    let env = two_languages();
    permit_all(&env);
    register_with(&env, "lame", &fakes::fake("--crash 3"), &[]);
    let plan = "(do (call :fs.read \"README.md\") (call :fs.read \"Cargo.toml\") \
                (try (call :fs.read {:path \"README.md\" :from -4}) (catch :InvalidArgument e nil)) \
                (try (call :agent.lame {:prompt \"a\"}) (catch :CapabilityError e nil)))";
    let run = env.callosum().env("CAL_RETRY_MAX", "0");
    let run = run.arguments(["plan", "run", "--json", "-e", plan]).run();
    let run = run.success().json()["run"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        let read = shown(&env, "fs.read");
        let read = &read["outcomes"];
        assert_eq!(read["calls"], 2, "{read}");
        assert_eq!(read["succeeded"], 2);
        assert_eq!(read["score"], 0.75);
        assert!(read["median_ms"].is_u64(), "{read}");
        let lame = shown(&env, "agent.lame");
        let lame = &lame["outcomes"];
        assert_eq!(lame["calls"], 1, "{lame}");
        assert_eq!(lame["score"], 0.333);
        assert_eq!(lame["last_failure_kind"], "CapabilityError");
        // A run that is over counts once.
        env.run(["plan", "resume", &run]).success();
    }
    let listed = env.run(["capability", "list"]).success().stdout;
    let line = listed.lines().find(|line| line.starts_with("fs.read"));
    assert!(line.unwrap().contains("0.75 (2)"), "{listed}");
    let ordered = ["capability", "query", "--order", "score", "--json"];
    let ordered = env.run(ordered).success().json();
    let ordered = ordered["capabilities"].as_array().unwrap();
    assert_eq!(ordered.first().unwrap()["id"], "fs.read");
    assert_eq!(ordered.last().unwrap()["id"], "agent.lame");
    let query = "(map (fn [one] (:id one)) (call :capability.query {:kind :agent :order :score}))";
    let output = carried_out(&env, &["-e", query]).success().json();
    let found = output["value"].as_str().unwrap();
    assert!(found.ends_with(":agent.lame]"), "{found}");
}
