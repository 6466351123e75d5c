//! Programs that a repository brings: none is started by looking at it, whatever names it.

use std::os::unix::fs::PermissionsExt as _;

use callosum_testkit::TestEnv;

use crate::{projects::two_languages, session::project};

/// Puts a program into the project that notes each of its runs outside of it.
fn bring(env: &TestEnv, path: &str) -> String {
    let noted = env.folder().join("ran");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", noted.display());
    env.write(path, script);
    let file = env.project().join(path);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.to_str().unwrap().to_owned()
}

fn ran(env: &TestEnv) -> Option<String> {
    std::fs::read_to_string(env.folder().join("ran")).ok()
}

/// REQ-SEC-001: whether a guard or a server answers is tried with this program, and with none that calls itself so.
#[test]
fn a_doctor_starts_no_program_that_a_clone_calls_ours() {
    let env = two_languages();
    let own = bring(&env, "tools/callosum");
    for command in [own.as_str(), "../../../project/tools/callosum"] {
        let hook = |client: &str, event: &str| {
            let hook = format!("{command} hook {client} {event}");
            serde_json::json!([{"matcher": "*", "hooks": [{"type": "command", "command": hook}]}])
        };
        let settings = serde_json::json!({"hooks": {
            "PreToolUse": hook("claude", "pre-tool-use"),
            "SessionStart": hook("claude", "session-start"),
        }});
        env.write(".claude/settings.json", settings.to_string());
        let servers =
            serde_json::json!({"mcpServers": {"callosum": {"command": command, "args": ["mcp"]}}});
        env.write(".mcp.json", servers.to_string());
        let doctor = env.run(["doctor", "--json"]);
        assert_eq!(ran(&env), None, "{}", doctor.stdout);
        for check in ["guard of claude", "sessions of claude", "tools of claude"] {
            let json = doctor.json();
            let checks = json["checks"].as_array().unwrap().iter();
            let mut found = checks.filter(|one| one["name"] == check);
            assert!(
                found.any(|one| one["outcome"] == "warning"
                    && one["found"].as_str().unwrap().contains("so it was not run")),
                "{check}: {json}"
            );
        }
    }
}

/// REQ-SEC-001, LOA-HEAL-1: what changed of the beads is seen without a filter of the repository, and is seen.
#[test]
fn healing_runs_no_filter_of_the_repository() {
    let env = project();
    env.run(["session", "heal"]).success();
    env.run(["bead", "create", "Kept", "--id", "bd-1"])
        .success();
    env.write(
        ".gitattributes",
        "*.yaml filter=evil\n*.md filter=evil.too\n",
    );
    env.git_init();
    let program = bring(&env, "clean.sh");
    for filter in ["evil", "evil.too"] {
        env.git(&["config", &format!("filter.{filter}.clean"), &program]);
        env.git(&["config", &format!("filter.{filter}.process"), &program]);
        env.git(&["config", &format!("filter.{filter}.required"), "true"]);
    }
    let whole = env.read(".beads/bd-1.yaml");
    let cut = whole.rsplit_once('\n').unwrap().0;
    let cut = cut.rsplit_once('\n').unwrap().0;
    env.write(".beads/bd-1.yaml", format!("{cut}\n"));
    let healed = env.run(["session", "heal"]).success().stdout;
    assert!(healed.contains(".beads/bd-1.yaml"), "{healed}");
    assert_eq!(env.read(".beads/bd-1.yaml"), whole);
    let event = serde_json::json!({"session_id": "s", "cwd": env.project(),
        "hook_event_name": "SessionStart", "source": "startup"});
    let begins = env
        .callosum()
        .arguments(["hook", "claude", "session-start"]);
    begins.input(event.to_string()).run().success();
    assert_eq!(ran(&env), None);
}

/// REQ-SEC-001: a repository that lies as plain files in another one is nobody's settings.
#[test]
fn a_repository_among_the_files_of_another_is_not_asked() {
    let env = project();
    let program = bring(&env, "clean.sh");
    env.write("app/.calrc", "{}");
    env.write("app/.beads/bd-1.yaml", "id: bd-1\n");
    env.write("app/.gitattributes", "*.yaml filter=evil\n");
    env.git(&["init", "--quiet", "--initial-branch=main", "app"]);
    for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--message=x"]] {
        env.git(&[&["-C", "app"], arguments].concat());
    }
    env.git(&["-C", "app", "config", "filter.evil.clean", &program]);
    let app = env.project().join("app");
    env.git(&[
        "-C",
        "app",
        "config",
        "core.worktree",
        app.to_str().unwrap(),
    ]);
    for part in ["HEAD", "config", "objects", "refs", "index"] {
        std::fs::rename(app.join(".git").join(part), app.join(part)).unwrap();
    }
    std::fs::remove_dir_all(app.join(".git")).unwrap();
    env.write("app/.beads/bd-1.yaml", "id: bd-1\n# more\n");
    let heals = env.callosum().arguments(["session", "heal"]);
    heals.in_folder(&app).run();
    assert_eq!(ran(&env), None);
}

/// REQ-SEC-001, CAKE-SNAP-1: an object that is not there is not fetched by a program that the repository names.
#[test]
fn a_snapshot_fetches_nothing() {
    let env = project();
    env.git_init();
    let program = bring(&env, "upload.sh");
    let blob = env.git(&["rev-parse", "HEAD:src/a.rs"]);
    let blob = blob.trim();
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    std::fs::remove_file(env.project().join(object)).unwrap();
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.url", "/any/path"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.uploadpack", program.as_str()),
        ("protocol.file.allow", "always"),
    ] {
        env.git(&["config", key, value]);
    }
    env.write("src/new.rs", "fn four() {}\n");
    for arguments in [
        &["snapshot", "create"][..],
        &["snapshot", "list"],
        &["session", "heal"],
    ] {
        env.callosum()
            .without("CALLOSUM_TEST_IDS")
            .arguments(arguments)
            .run();
    }
    assert_eq!(ran(&env), None);
}

/// REQ-SEC-001: a relative folder in `PATH` is one of whatever tree a program is started in.
#[test]
fn git_is_not_taken_from_the_tree() {
    let env = project();
    env.git_init();
    bring(&env, "node_modules/.bin/git");
    let path = "./node_modules/.bin:/usr/bin:/bin";
    for arguments in [
        &["snapshot", "create"][..],
        &["session", "heal"],
        &["doctor"],
    ] {
        let run = env
            .callosum()
            .without("CALLOSUM_TEST_IDS")
            .env("PATH", path);
        run.arguments(arguments).run();
    }
    assert_eq!(ran(&env), None);
}
