//! `init`, `uninstall` and `doctor`: the guard in the settings of coding agents.

use std::os::unix::fs::PermissionsExt;

use callosum_json::Checksum;
use callosum_testkit::TestEnv;
use serde_json::Value;

/// What people have in their settings before.
const SETTINGS: [(&str, &str); 4] = [
    (
        ".claude/settings.json",
        "{\n\t\"model\": \"opus\",\n\t\"hooks\": { \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"bell\" } ] } ] }\n}",
    ),
    (".codex/hooks.json", "{}"),
    (
        ".gemini/settings.json",
        "{\n  // mine\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, /* x */\n}\n",
    ),
    (".qwen/settings.json", "{\r\n  \"a\" : [1,2 ,3]\r\n}\r\n"),
];

pub(crate) fn with_clients() -> TestEnv {
    let env = TestEnv::new();
    env.git_init();
    for (path, text) in SETTINGS {
        let client = path[1..].split('/').next().unwrap();
        let program = env.programs().join(client);
        std::fs::write(&program, "#!/bin/sh\necho 999.0.0\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        env.write(env.home().join(path), text);
    }
    env
}

pub(crate) fn settings(env: &TestEnv) -> Vec<String> {
    SETTINGS
        .iter()
        .map(|(path, _)| env.read(env.home().join(path)))
        .collect()
}

pub(crate) fn before() -> Vec<String> {
    SETTINGS
        .iter()
        .map(|(_, text)| (*text).to_owned())
        .collect()
}

fn changes(output: &Value) -> Vec<(&str, &str)> {
    let clients = output["clients"].as_array().unwrap().iter();
    clients
        .map(|client| {
            let text = |name: &str| client[name].as_str().unwrap();
            (text("client"), text("change"))
        })
        .collect()
}

/// CAKE-ADP-1: the clients that are installed are found and told, and told once; afterwards their
/// settings are what they were, byte for byte.
#[test]
fn init_registers_with_installed_clients_and_uninstall_leaves_no_trace() {
    let env = with_clients();
    let output = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    let all = ["claude", "codex", "gemini", "qwen"];
    assert_eq!(changes(&output), all.map(|client| (client, "registered")));
    for (text, before) in settings(&env).iter().zip(before()) {
        assert_ne!(text, &before);
        assert!(text.contains(" hook "), "{text}");
    }
    let registered = settings(&env);
    let again = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    assert_eq!(changes(&again), all.map(|client| (client, "unchanged")));
    assert_eq!(settings(&env), registered);
    let told = env
        .run(["uninstall", "--dry-run", "--json"])
        .success()
        .json();
    assert_eq!(changes(&told), all.map(|client| (client, "restored")));
    assert_eq!(settings(&env), registered);
    let output = env.run(["uninstall", "--json"]).success().json();
    assert_eq!(changes(&output), all.map(|client| (client, "restored")));
    assert_eq!(settings(&env), before());
    let nothing = env.run(["uninstall", "--json"]).success().json();
    assert_eq!(nothing["clients"], serde_json::json!([]));
}

/// CAKE-ADP-1: a dry run writes nothing, in the project or in any home.
#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let env = with_clients();
    let output = env
        .run(["init", "--all", "--share", "--dry-run", "--json"])
        .success()
        .json();
    assert_eq!(output["dry_run"], true);
    assert_eq!(changes(&output).len(), 4);
    assert!(output["created"].as_array().unwrap().len() >= 5);
    assert_eq!(settings(&env), before());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(!env.machine_home().exists());
}

/// CAKE-ADP-1: who names a client gets that one alone, and who wants none none.
#[test]
fn only_what_was_asked_for_is_registered() {
    let env = with_clients();
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    assert_eq!(settings(&env), before());
    let one = [
        "init", "--all", "--share", "--client", "codex", "--scope", "project", "--json",
    ];
    let output = env.run(one).success().json();
    assert_eq!(changes(&output), [("codex", "registered")]);
    assert_eq!(settings(&env), before());
    let hooks: Value = serde_json::from_str(&env.read(".codex/hooks.json")).unwrap();
    assert!(hooks["hooks"]["PreToolUse"].is_array());
    env.run(["uninstall"]).success();
    assert!(!env.project().join(".codex").exists());
    env.run(["init", "--all", "--share", "--client", "nobody"])
        .ended_with(2);
}

/// opencode asks by a plugin, which is laid once for the user or for a project, found by `doctor`, and removed to the byte.
#[test]
fn opencode_gets_a_plugin_and_loses_it_again() {
    let env = TestEnv::new();
    env.git_init();
    std::fs::copy("/bin/true", env.programs().join("opencode")).unwrap();
    let config = env.home().join(".config/opencode");
    env.write(config.join("opencode.json"), "{}");
    let names = |folder: &std::path::Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let guard = |env: &TestEnv| {
        let output = env.run(["doctor", "--json"]).json();
        let checks = output["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter();
        let check = checks.find(|check| check["name"] == "guard of opencode");
        let check = check.unwrap();
        (check["outcome"].clone(), check["found"].to_string())
    };
    assert_eq!(guard(&env).0, "warning");
    for (scope, file) in [
        ("user", config.join("plugin/callosum-guard.js")),
        (
            "project",
            env.project().join(".opencode/plugin/callosum-guard.js"),
        ),
    ] {
        let init = ["init", "--guard", "--scope", scope, "--json"];
        assert_eq!(
            changes(&env.run(init).success().json()),
            [("opencode", "registered")]
        );
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("\"hook\",\"opencode\",\"pre-tool-use\"]"),
            "{text}"
        );
        assert_eq!(
            changes(&env.run(init).success().json()),
            [("opencode", "unchanged")]
        );
        let (outcome, found) = guard(&env);
        assert_eq!(outcome, "ok", "{found}");
        let gone = env.run(["uninstall", "--json"]).success().json();
        assert_eq!(changes(&gone), [("opencode", "restored")]);
        assert_eq!(names(&config), ["opencode.json"]);
        assert!(!env.project().join(".opencode").exists());
    }
    env.write(
        config.join("plugin/mine.js"),
        "export const Mine = async () => ({})\n",
    );
    env.run(["init", "--guard"]).success();
    std::fs::write(config.join("plugin/callosum-guard.js"), "mine now\n").unwrap();
    env.run(["uninstall"]).success();
    let left = std::fs::read_to_string(config.join("plugin/callosum-guard.js")).unwrap();
    assert_eq!(left, "mine now\n");
    assert!(config.join("plugin/mine.js").exists());
}

/// CAL-EXE-1: delegating changes no settings of anybody.
#[test]
fn delegating_never_touches_settings() {
    let env = with_clients();
    env.run(["delegate", "map"]).success();
    assert_eq!(settings(&env), before());
}

/// CAKE-ADP-1: the guard of a user needs no project, and leaves none behind.
#[test]
fn hooks_alone_are_registered_without_a_project() {
    let env = with_clients();
    let alone = ["init", "--guard", "--gate", "plugin", "--json"];
    let told = env.run(alone.into_iter().chain(["--dry-run"])).success();
    assert_eq!(told.json()["created"], serde_json::json!([]));
    assert_eq!(settings(&env), before());
    let output = env.run(alone).success().json();
    let all = ["claude", "codex", "gemini", "qwen"];
    assert_eq!(changes(&output), all.map(|client| (client, "registered")));
    assert_eq!(env.git(&["status", "--porcelain", "--ignored"]), "");
    env.run(["uninstall"]).success();
    assert_eq!(settings(&env), before());
}

/// CAKE-ADP-1: what others write into settings after us stays, and nothing of ours does.
#[test]
fn uninstall_after_an_edit_leaves_no_trace_of_ours() {
    let env = with_clients();
    env.run(["init", "--guard", "--gate", "plugin"]).success();
    for (path, text) in SETTINGS {
        let path = env.home().join(path);
        let registered = env.read(&path);
        let (from, to) = match text.find("opus") {
            Some(_) => ("opus", "sonnet"),
            None if text.contains("gemini-api-key") => ("gemini-api-key", "oauth"),
            None if text.contains("[1,2 ,3]") => ("[1,2 ,3]", "[1,2 ,3, 4]"),
            None => continue,
        };
        env.write(&path, registered.replace(from, to));
        env.run(["uninstall"]).success();
        assert_eq!(env.read(&path), text.replace(from, to));
        env.run(["init", "--guard", "--gate", "plugin"]).success();
    }
}

/// CAKE-ADP-1: an entry of another place that was put back beside the right one goes.
#[test]
fn init_takes_out_what_was_put_back_of_another_place() {
    let env = with_clients();
    env.run(["init", "--all", "--share", "--client", "claude"])
        .success();
    let path = env.home().join(".claude/settings.json");
    let registered = env.read(&path);
    let old = "{\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \
               \"command\": \"/old/callosum hook claude pre-tool-use\"}]}, ";
    let at = registered.find("\"PreToolUse\": [").unwrap() + "\"PreToolUse\": [".len();
    env.write(
        &path,
        format!("{}{old}{}", &registered[..at], &registered[at..]),
    );
    let output = env.run(["doctor", "--json"]).ended_with(1).stdout;
    assert!(output.contains("/old/callosum"), "{output}");
    let again = env
        .run(["init", "--all", "--share", "--client", "claude", "--json"])
        .success();
    assert_eq!(changes(&again.json()), [("claude", "registered")]);
    assert!(!env.read(&path).contains("/old/callosum"));
    env.run(["doctor", "--json"]).success();
    let twice = registered.replacen('{', "{ \"hooks\": {},", 1);
    env.write(&path, &twice);
    let refused = env
        .run(["init", "--all", "--share", "--client", "claude"])
        .ended_with(3);
    assert!(
        refused.stderr.contains("more than once"),
        "{}",
        refused.stderr
    );
    assert_eq!(env.read(&path), twice);
    let found = env.run(["doctor", "--json"]).stdout;
    assert!(found.contains("`hooks` occurs twice"), "{found}");
}

/// CAKE-ADP-1: settings that cannot be understood are left, and who asked for them is told.
#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    let env = with_clients();
    let path = env.home().join(".claude/settings.json");
    env.write(&path, "{ broken");
    let output = env
        .run(["init", "--all", "--share", "--json"])
        .success()
        .json();
    assert_eq!(changes(&output)[0], ("claude", "failed"));
    assert_eq!(changes(&output)[1], ("codex", "registered"));
    env.run(["init", "--all", "--share", "--client", "claude"])
        .ended_with(3);
    assert_eq!(env.read(&path), "{ broken");
}

/// CAKE-ADP-1: `doctor` runs what is registered, and says when nothing stands behind it any more.
#[test]
fn doctor_says_whether_the_guard_answers() {
    let env = with_clients();
    let found = |name: &str| {
        let output = env.run(["doctor", "--json"]).json();
        let checks = output["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter().filter(|check| check["name"] == name);
        let check = checks.next().unwrap();
        let text = |key: &str| check[key].as_str().unwrap().to_owned();
        (text("outcome"), text("found"))
    };
    env.run(["init", "--ledger", "--sessions", "--share"])
        .success();
    let (outcome, text) = found("guard of claude");
    assert_eq!(outcome, "warning");
    assert!(text.contains("not installed"), "{text}");
    env.run(["init", "--all", "--share"]).success();
    for client in ["claude", "codex", "gemini", "qwen"] {
        let (outcome, text) = found(&format!("guard of {client}"));
        assert_eq!(outcome, "ok", "{client}: {text}");
        assert!(text.contains("answers"), "{text}");
    }
    // A trial is told to no journal.
    assert!(!env.machine_home().join("journal").exists());
    let path = env.home().join(".gemini/settings.json");
    let text = env.read(&path);
    let program = callosum_testkit::fakes::program("callosum");
    let gone = text.replace(program.to_str().unwrap(), "/gone/callosum");
    assert_ne!(gone, text);
    env.write(&path, gone);
    let (outcome, text) = found("guard of gemini");
    assert_eq!(outcome, "failed");
    assert!(text.contains("/gone/callosum"), "{text}");
    env.run(["doctor"]).ended_with(1);
}

/// CAKE-ADP-1: an entry that a client's own settings keep from being asked is not said to answer.
#[test]
fn doctor_says_what_keeps_a_client_from_asking() {
    let found = |env: &TestEnv, client: &str| {
        let output = env.run(["doctor", "--json"]).json();
        let name = format!("guard of {client}");
        let checks = output["checks"].as_array().unwrap().iter();
        let all = checks.filter(|check| check["name"] == *name);
        all.map(ToString::to_string).collect::<String>()
    };
    for (client, file, text, said) in [
        (
            "claude",
            ".claude/settings.local.json",
            "{\"disableAllHooks\": true}",
            "disableAllHooks",
        ),
        (
            "qwen",
            ".qwen/settings.json",
            "{\"disableAllHooks\": true}",
            "disableAllHooks",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"hooksConfig\": {\"enabled\": false}}",
            "hooksConfig.enabled",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[features]\nhooks = false\n",
            "features.hooks",
        ),
    ] {
        let env = with_clients();
        env.run(["init", "--all", "--share", "--client", client])
            .success();
        env.write(file, text);
        let text = found(&env, client);
        assert!(
            text.contains("the client does not run the hook, although"),
            "{client}: {text}"
        );
        assert!(
            text.contains(said) && text.contains(file),
            "{client}: {text}"
        );
        assert!(!text.contains("answers, registered in"), "{client}: {text}");
        env.run(["doctor"]).ended_with(1);
    }
    let env = with_clients();
    env.run(["init", "--all", "--share", "--client", "claude"])
        .success();
    let path = env.home().join(".claude/settings.json");
    let registered = env.read(&path);
    let narrow = registered.replace("\"matcher\": \"*\"", "\"matcher\": \"Write\"");
    assert_ne!(narrow, registered);
    env.write(&path, narrow);
    let text = found(&env, "claude");
    assert!(text.contains("tools that match `Write`"), "{text}");
    assert!(
        text.contains("callosum uninstall --client claude"),
        "{text}"
    );
    let hidden = registered.trim_end().trim_end_matches('}').to_owned() + ", \"hooks\": {}}";
    env.write(&path, &hidden);
    assert!(found(&env, "claude").contains("the hook is in the other"));
}

/// CAKE-ADP-1, CAKE-CFG-1: a project that leads hooks to another configuration than the user's is named; the user's own
/// settings may do so.
#[test]
fn doctor_names_a_project_that_leads_hooks_to_another_configuration() {
    let said = |env: &TestEnv| {
        let doctor = env.run(["doctor", "--json"]).json().to_string();
        doctor.contains("use a different configuration than yours")
    };
    let sets = "{\"env\": {\"CALLOSUM_CONFIG\": \"/proc/self/cwd/mine.toml\"}}";
    for (client, file, text, named) in [
        ("claude", ".claude/settings.json", sets, true),
        ("claude", ".claude/settings.local.json", sets, true),
        ("gemini", ".env", "export XDG_CONFIG_HOME=/tmp/x\n", true),
        ("qwen", ".qwen/.env", "CALLOSUM_HOME = /tmp/x\n", true),
        ("claude", ".env", "CALLOSUM_HOME=/tmp/x\n", false),
        (
            "claude",
            ".claude/settings.json",
            "{\"env\": {\"A\": \"HOME\"}}",
            false,
        ),
        ("gemini", ".env", "# CALLOSUM_HOME=/x\nMY_HOME=/x\n", false),
    ] {
        let env = with_clients();
        env.run(["init", "--all", "--share", "--client", client])
            .success();
        assert!(!said(&env));
        env.write(file, text);
        assert_eq!(said(&env), named, "{client}: {text}");
    }
    let env = with_clients();
    env.run(["init", "--all", "--share", "--client", "claude"])
        .success();
    let own = env.home().join(".claude/settings.json");
    let text = env
        .read(&own)
        .replacen('{', "{\"env\": {\"CALLOSUM_TEST_CLOCK\": \"x\"}, ", 1);
    env.write(&own, text);
    assert!(!said(&env));
}

/// CAKE-ADP-1: Codex passes a hook over that nobody has trusted; which one a person has trusted,
/// `doctor` reads in its settings, without forging anything there.
#[test]
fn doctor_says_whether_codex_was_told_to_trust_the_hook() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    let found = || {
        let output = env.run(["doctor", "--json"]).json();
        let checks = output["checks"].as_array().unwrap().clone();
        let codex = checks
            .into_iter()
            .filter(|check| check["name"] == "guard of codex");
        codex
            .map(|check| check["found"].to_string())
            .collect::<String>()
    };
    assert!(found().contains("until a person trusts"), "{}", found());
    let hooks = env.home().join(".codex/hooks.json");
    let trusted = |at: &str, hash: &str| {
        let key = format!("{}:pre_tool_use:{at}", hooks.display());
        format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{hash}\"\n[[hooks.Stop]]\n")
    };
    let program = callosum_testkit::fakes::program("callosum");
    let handler = format!(
        "{{\"async\":false,\"command\":\"{} hook codex pre-tool-use\",\"timeout\":10,\"type\":\"command\"}}",
        program.display()
    );
    let identity =
        format!("{{\"event_name\":\"pre_tool_use\",\"hooks\":[{handler}],\"matcher\":\"*\"}}");
    let hash = format!("sha256:{}", Checksum::of(identity.as_bytes()));
    let settings = env.home().join(".codex/config.toml");
    env.write(&settings, trusted("1:0", &hash));
    assert!(found().contains("until a person trusts"), "{}", found());
    // What was trusted was another hook in the same place.
    env.write(&settings, trusted("0:0", "sha256:1"));
    assert!(
        found().contains("changed since a person trusted"),
        "{}",
        found()
    );
    env.write(&settings, trusted("0:0", &hash));
    assert!(found().contains("a person trusted "), "{}", found());
    assert!(found().contains("has hooks too"), "{}", found());
}

/// CAKE-ADP-1: Codex passes over all settings of a project that a person has not trusted, which `init` and `doctor` say.
#[test]
fn doctor_says_where_codex_does_not_trust_the_project() {
    let env = with_clients();
    let at_project = [
        "init", "--all", "--share", "--scope", "project", "--client", "codex",
    ];
    let output = env.run(at_project).success();
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(
        said.contains("the guard is off here until codex trusts this project"),
        "{said}"
    );
    let found = || {
        let output = env.run(["doctor", "--json"]).json();
        let checks = output["checks"].as_array().unwrap().clone();
        let codex = checks
            .into_iter()
            .filter(|check| check["name"] == "guard of codex");
        let lines = codex.map(|check| format!("{}: {}", check["outcome"], check["found"]));
        lines.collect::<Vec<_>>().join("\n")
    };
    let said = found();
    assert!(
        said.contains("\"failed\": \"the client does not run the hook"),
        "{said}"
    );
    assert!(
        said.contains("trust_level") && !said.contains("answers"),
        "{said}"
    );
    let project = std::fs::canonicalize(env.project()).unwrap();
    let trusted = format!(
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        project.display()
    );
    env.write(env.home().join(".codex/config.toml"), trusted);
    let said = found();
    assert!(
        said.contains("answers") && !said.contains("trust_level"),
        "{said}"
    );
}

/// LOA-LIFE-1, LOA-HOOK-1: `doctor` runs what is registered for the begin of a session, and says
/// whether anybody is asked before a clear.
#[test]
fn doctor_says_whether_a_session_that_begins_is_told() {
    let env = with_clients();
    let found = |name: &str| {
        let output = env.run(["doctor", "--json"]).json();
        let checks = output["checks"].as_array().unwrap().clone();
        let checks = checks.into_iter().filter(|check| check["name"] == name);
        let said = |check: Value| format!("{}: {}\n", check["outcome"], check["found"]);
        checks.map(said).collect::<String>()
    };
    env.run(["init", "--all", "--gate", "none", "--share"])
        .success();
    for client in ["claude", "codex", "gemini", "qwen"] {
        let said = found(&format!("sessions of {client}"));
        assert!(said.contains("\"ok\": \"the start hook in "), "{said}");
        assert_eq!(said.contains("until a person trusts"), client == "codex");
    }
    let said = found("gate of claude");
    assert!(said.contains("off: /clear is not checked"), "{said}");
    env.run(["init", "--all", "--share"]).success();
    let said = found("gate of claude");
    assert!(
        said.contains("on: /clear is checked first, set in"),
        "{said}"
    );
    let path = env.home().join(".claude/settings.json");
    let settings = env.read(&path);
    env.write(
        &path,
        settings.replace(
            "\"callosum@callosum\": true",
            "\"callosum@callosum\": false",
        ),
    );
    env.run(["init", "--all", "--share"]).success();
    let said = found("gate of claude");
    assert!(said.contains("off: /clear is not checked"), "{said}");
    let gone = env.read(&path).replace("session-start", "session-gone");
    env.write(&path, gone);
    let said = found("sessions of claude");
    assert!(said.contains("\"failed\": \"the start hook in "), "{said}");
}

/// LOA-HOOK-1: the files of the gate are gone with the last settings that name it.
#[test]
fn the_gate_leaves_no_files() {
    let env = with_clients();
    env.run(["init", "--all", "--share"]).success();
    let gate = env.machine_home().join("hooks/gate");
    assert!(gate.join("callosum/hooks/register.ts").exists());
    env.run(["uninstall", "--client", "gemini"]).success();
    assert!(gate.exists());
    env.run(["uninstall"]).success();
    assert!(!gate.exists());
    assert_eq!(settings(&env), before());
}

/// LOA-HOOK-1: the client's own `/clear` is shadowed only where that is asked for, in one project, and
/// never over somebody else's.
#[test]
fn a_clear_is_shadowed_only_where_that_is_asked_for() {
    let env = with_clients();
    let shadow = [
        "init", "--all", "--gate", "shadow", "--share", "--client", "claude",
    ];
    env.run(shadow).ended_with(2);
    let here = shadow.into_iter().chain(["--scope", "project"]);
    let command = env.project().join(".claude/commands/clear.md");
    let told = env.run(here.clone()).success().stderr;
    assert!(
        told.contains("and a /clear that checks and never clears"),
        "{told}"
    );
    assert!(env.read(&command).contains("callosum session check"));
    let doctor = env.run(["doctor", "-v"]).stdout;
    let asked =
        "Claude Code gate: /clear checks and never clears, /new clears without a check, set in ";
    assert!(doctor.contains(asked), "{doctor}");
    assert!(!doctor.contains("off: /clear is not checked"), "{doctor}");
    assert!(
        env.read(".claude/settings.json")
            .contains("UserPromptExpansion")
    );
    env.run(["uninstall"]).success();
    assert!(!command.exists());
    assert!(!env.project().join(".claude/settings.json").exists());
    env.write(&command, "mine\n");
    env.run(here).ended_with(3);
    env.run(["uninstall"]).success();
    assert_eq!(env.read(&command), "mine\n");
}
