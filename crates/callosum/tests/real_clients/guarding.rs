//! A client with the guard in front of its tools, and without it again.

use callosum_testkit::model::{Call, ScriptTurn};
use serde_json::json;

use crate::{cases::answers_without_a_network, client::Client, install::Installed, stage::Stage};

/// Has the client's model run a command in a dirty repository with the guard registered; gives all
/// that the model was told, and what was shown.
fn run_guarded(stage: &Stage<'_>, command: &str) -> Option<[String; 2]> {
    let shell = stage.client.shell.as_ref()?;
    run_guarded_with(stage, shell.arguments, command)
}

/// The same with these arguments of the client's.
fn run_guarded_with(stage: &Stage<'_>, arguments: &[&str], command: &str) -> Option<[String; 2]> {
    let shell = stage.client.shell.as_ref()?;
    let init = [
        "init",
        "--all",
        "--share",
        "--client",
        stage.client.name,
        "--json",
    ];
    stage.callosum().arguments(init).run().success();
    let call = Call {
        name: shell.tool.to_owned(),
        input: json!({shell.key: command, "description": "run it"}),
        ..Call::default()
    };
    let turns = [
        ScriptTurn {
            calls: vec![call],
            ..ScriptTurn::default()
        },
        ScriptTurn::text("that was all"),
    ];
    stage
        .env
        .write("src/main.rs", "fn main() { hours_of_work() }\n");
    let client = stage
        .client()
        .arguments(arguments)
        .arguments([format!("Do it. {}", ScriptTurn::script(&turns))]);
    let variables = shell.environment.iter();
    let client = variables.fold(client, |client, (name, value)| client.env(name, *value));
    let ended = client.run();
    let shown = format!("{}{}", ended.stdout, ended.stderr);
    for complaint in ["failed for event", "1 failed", "clamping"] {
        assert!(!shown.contains(complaint), "{shown}");
    }
    let heard = stage.server.heard();
    let told: Vec<String> = heard
        .iter()
        .map(|heard| serde_json::to_string(&heard.body).unwrap())
        .collect();
    assert!(told.len() > 1, "{}: {ended:?}", stage.client.name);
    Some([told.join("\n"), shown])
}

/// CAKE-SHIM-1, CAKE-ADP-1: the command does not run, and the model is told why; a harmless one
/// runs.
pub(crate) fn stops_what_the_guard_is_against(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let head = stage.env.git(&["rev-parse", "HEAD"]);
    let Some([told, _]) = run_guarded(&stage, "git reset --hard") else {
        return;
    };
    assert!(told.contains("callosum guard, rule git"), "{told}");
    assert!(stage.env.read("src/main.rs").contains("hours_of_work"));
    let status = stage
        .env
        .git(&["status", "--porcelain", "--untracked-files=no"]);
    assert_eq!(status, " M src/main.rs\n");
    assert_eq!(stage.env.git(&["rev-parse", "HEAD"]), head);
    let stage = Stage::new(client, installed);
    run_guarded(&stage, "ls src > listed.txt");
    assert_eq!(stage.env.read("listed.txt"), "main.rs\n");
}

/// opencode, whose hooks are plugins: what the guard denies does not run, of commands and of files, and the model is told
/// why; a harmless call runs. If the program is gone, no tool runs. Without the plugin it works as before.
pub(crate) fn is_stopped_by_a_plugin(client: &Client, installed: &Installed) {
    if client.name != "opencode" {
        return;
    }
    let stage = Stage::new(client, installed);
    let copy = stage.env.home().join("bin/callosum");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::copy(callosum_testkit::fakes::program("callosum"), &copy).unwrap();
    let own = |words: &[&str]| {
        let run = stage.dressed(stage.env.program(copy.clone()));
        run.arguments(words).run().success();
    };
    own(&["init", "--guard", "--client", client.name]);
    stage
        .env
        .write("src/main.rs", "fn main() { hours_of_work() }\n");
    let call = |tool: &str, input: serde_json::Value| ScriptTurn {
        calls: vec![Call {
            name: tool.to_owned(),
            input,
            ..Call::default()
        }],
        ..ScriptTurn::default()
    };
    let shell = |command: &str| call("bash", json!({"command": command, "description": "it"}));
    let head = stage.env.project().join(".git/HEAD");
    let ask = |turns: &[ScriptTurn]| {
        let before = stage.server.heard().len();
        let prompt = format!("Do it. {}", ScriptTurn::script(turns));
        let ended = stage.client().arguments(client.arguments);
        ended.arguments([prompt]).run().success();
        let heard = stage.server.heard();
        let bodies = heard[before..].iter();
        let bodies = bodies.map(|heard| serde_json::to_string(&heard.body).unwrap());
        bodies.collect::<String>()
    };
    let told = ask(&[
        shell("git reset --hard"),
        call("write", json!({"filePath": head, "content": "x"})),
        shell("ls src > listed.txt"),
        ScriptTurn::text("that was all"),
    ]);
    assert!(told.contains("callosum guard, rule git"), "{told}");
    assert!(told.contains("rule protect.git"), "{told}");
    assert!(stage.env.read("src/main.rs").contains("hours_of_work"));
    assert_ne!(stage.env.read(".git/HEAD"), "x");
    assert_eq!(stage.env.read("listed.txt"), "main.rs\n");
    let log = stage.callosum().arguments(["guard", "log"]).run().success();
    assert!(log.stdout.contains("opencode"), "{}", log.stdout);
    std::fs::rename(&copy, copy.with_extension("away")).unwrap();
    let told = ask(&[shell("ls > again.txt"), ScriptTurn::text("that was all")]);
    assert!(told.contains("cannot be started"), "{told}");
    assert!(!stage.env.project().join("again.txt").exists());
    std::fs::rename(copy.with_extension("away"), &copy).unwrap();
    own(&["uninstall"]);
    ask(&[shell("git reset --hard"), ScriptTurn::text("that was all")]);
    assert!(!stage.env.read("src/main.rs").contains("hours_of_work"));
}

/// A compound command that is auto-allowed runs though the client has no permission for it and nobody can be asked; one
/// that is not does not, and neither does it while auto-allow is off. Only Claude Code asks without a terminal.
pub(crate) fn runs_what_is_auto_allowed_without_a_prompt(client: &Client, installed: &Installed) {
    if client.name != "claude" {
        return;
    }
    let command = "ls src > listed.txt && wc -l listed.txt";
    let run = |is_on: bool, command: &str| {
        let stage = Stage::new(client, installed);
        if is_on {
            let turn_on = ["guard", "auto-allow", "on"];
            stage.callosum().arguments(turn_on).run().success();
        }
        run_guarded_with(&stage, client.arguments, command);
        let is_there = |file: &str| stage.env.project().join(file).exists();
        is_there("listed.txt") || is_there("src/copy.rs")
    };
    assert!(!run(false, command));
    assert!(run(true, command));
    assert!(!run(true, "ls src && cp src/main.rs src/copy.rs"));
}

/// CAKE-ADP-2: where the user turned it on, the client runs the careful form of a refused command, and its model is told. The
/// lease is stale, so that only a plain `--force` would overwrite the remote.
pub(crate) fn runs_the_careful_form(client: &Client, installed: &Installed) {
    if !["claude", "codex", "gemini"].contains(&client.name) {
        return;
    }
    let stage = Stage::new(client, installed);
    let remote = stage.env.folder().join("remote.git");
    let remote = remote.to_string_lossy();
    let git = |arguments: &[&str]| stage.env.git(arguments).trim().to_owned();
    git(&["init", "--quiet", "--bare", &remote]);
    git(&["remote", "add", "origin", &remote]);
    git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    git(&["fetch", "--quiet", "origin"]);
    git(&["commit", "--quiet", "--allow-empty", "--message=theirs"]);
    git(&["push", "--quiet", &remote, "HEAD:refs/heads/main"]);
    let theirs = git(&["rev-parse", "HEAD"]);
    git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    git(&["commit", "--quiet", "--allow-empty", "--message=ours"]);
    let config = stage.env.configuration().with_file_name("cake_config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "safety: {rewrite: true}\n").unwrap();
    let command = "git push --force origin HEAD:refs/heads/main";
    let [told, shown] = run_guarded(&stage, command).unwrap();
    // Claude Code asks about the new command, and here nobody answers.
    let is_given = if client.name == "claude" {
        shown.contains("\"command\":\"git push --force-with-lease origin HEAD:refs/heads/main\"")
    } else {
        told.contains("stale info")
    };
    assert!(is_given, "{told}\n{shown}");
    let known = git(&["ls-remote", &remote, "refs/heads/main"]);
    assert!(known.starts_with(&theirs), "{known}");
    let log = stage.env.run(["guard", "log", "--json"]).success().json();
    let rewritten = log.to_string();
    assert!(rewritten.contains("--force-with-lease"), "{rewritten}");
}

/// CAKE-SNAP-1: where a command takes away what only a snapshot holds, the model or the person is told how to go
/// back, as far as the client passes it on.
pub(crate) fn tells_what_was_kept(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    stage.env.write("notes.txt", "hours of work\n");
    let Some([told, shown]) = run_guarded(&stage, "rm notes.txt") else {
        return;
    };
    assert!(!stage.env.project().join("notes.txt").exists());
    let is_said = |text: &str| text.contains("callosum saved notes.txt before this");
    // Claude Code shows it to the person in the terminal, and to whoever reads its stream.
    let expected = match client.name {
        "claude" | "codex" => (true, false),
        "gemini" => (false, true),
        _ => (false, false),
    };
    assert_eq!((is_said(&told), is_said(&shown)), expected, "{shown}");
}

/// CAKE-ADP-1: if the registered program is gone, `doctor` says that it does not answer. Claude Code from 2.1.330 on stops
/// the tool then, since its entries say `"onFailure": "block"`. Older versions and the other clients run it.
pub(crate) fn is_known_to_ask_nobody(client: &Client, installed: &Installed) {
    if client.shell.is_none() {
        return;
    }
    let stage = Stage::new(client, installed);
    let copy = stage.env.home().join("bin/callosum");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::copy(callosum_testkit::fakes::program("callosum"), &copy).unwrap();
    let init = ["init", "--all", "--share", "--client", client.name];
    let own = stage.dressed(stage.env.program(copy.clone()));
    own.arguments(init).run().success();
    let found = || {
        let said = stage.callosum().arguments(["doctor", "--json"]).run();
        let name = format!("guard of {}", client.name);
        let checks = said.json()["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter().filter(|check| check["name"] == name);
        let check = checks.next().unwrap();
        (check["outcome"].clone(), check.to_string())
    };
    let (outcome, said) = found();
    assert_eq!(outcome, "ok", "{said}");
    std::fs::remove_file(&copy).unwrap();
    let (outcome, said) = found();
    assert_eq!(outcome, "failed", "{said}");
    assert!(said.contains("fails, registered in"), "{said}");
}

/// CAKE-ADP-1: its settings are the same bytes after `uninstall`, no file is left beside them, and
/// it works without the hook.
pub(crate) fn is_left_as_it_was(client: &Client, installed: &Installed) {
    let stage = Stage::new(client, installed);
    let beside = |stage: &Stage<'_>| -> Vec<std::ffi::OsString> {
        let files = client.files.iter();
        let folders =
            files.filter_map(|(path, _)| Some(stage.env.home().join(path).parent()?.to_owned()));
        let entries = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let settings = |stage: &Stage<'_>| -> Vec<String> {
        let files = client.files.iter();
        let paths = files.map(|(path, _)| stage.env.home().join(path));
        paths.map(|path| stage.env.read(path)).collect()
    };
    let before = (settings(&stage), beside(&stage));
    if client.shell.is_none() {
        return;
    }
    let init = ["init", "--all", "--share", "--client", client.name];
    stage.callosum().arguments(init).run().success();
    stage.callosum().arguments(["uninstall"]).run().success();
    assert_eq!((settings(&stage), beside(&stage)), before);
    answers_without_a_network(client, installed);
}
