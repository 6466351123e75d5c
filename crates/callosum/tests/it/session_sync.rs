//! `session sync`: one project takes the session files of another, through `callosum mcp`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callosum_testkit::{Output, Schema, TestEnv};
use serde_json::{Value, json};

use crate::mcp_server::Server;

const NOTES: &str = "loa-grimoire/NOTES.md";

/// A project and a second checkout of it, each with sessions of its own.
fn two_checkouts() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    env.write("src/a.rs", "pub fn one() {}\n");
    env.write(".gitignore", "/loa-grimoire\n/.beads\n");
    env.git_init();
    let other = env.folder().join("the other");
    let path = other.to_str().unwrap();
    env.git(&["clone", "-q", ".", path]);
    env.run(["init", "--sessions"]).success();
    inside(&env, &other, &["init", "--sessions"]).success();
    (env, other)
}

fn inside(env: &TestEnv, folder: &Path, arguments: &[&str]) -> Output {
    env.callosum().in_folder(folder).arguments(arguments).run()
}

fn decide(env: &TestEnv, folder: &Path, what: &str) {
    let arguments = ["session", "decide", what, "--cite", "src/a.rs:1"];
    inside(env, folder, &arguments).success();
}

/// All files of a project's sessions, with their contents.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("loa-grimoire"), root.join(".beads")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// A server of the protocol as a script: its results by the name of the resource, as files of a
/// folder; any other request gets an error.
fn hostile(env: &TestEnv, name: &str, before: &str, results: &[(&str, Value)]) -> Vec<String> {
    let folder = env.folder().join(name);
    for (resource, result) in results {
        env.write(folder.join(resource), result.to_string());
    }
    let script = format!(
        r#"cd '{}'
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  resource=$(printf '%s' "$line" | sed -n 's|.*"callosum://session/\([a-z]*\).*|\1|p')
  {before}
  case $line in
    *'"initialize"'*) result='{{"protocolVersion":"2025-06-18","capabilities":{{"resources":{{}}}},"serverInfo":{{"name":"x","version":"1"}}}}' ;;
    *) result=$([ -n "$resource" ] && cat "$resource" 2>/dev/null) ;;
  esac
  if [ -n "$result" ]; then
    printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$result"
  elif [ -n "$id" ]; then
    printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"no such thing"}}}}\n' "$id"
  fi
done"#,
        folder.display()
    );
    std::fs::create_dir_all(&folder).unwrap();
    ["sh", "-c", &script].map(str::to_owned).into()
}

fn text(uri: &str, text: &str) -> Value {
    json!({"contents": [{"uri": uri, "text": text}]})
}

fn index(parts: &[&str]) -> Value {
    let parts: Vec<Value> = parts
        .iter()
        .map(|uri| json!({"uri": uri, "bytes": 1, "sha256": "0"}))
        .collect();
    let offer = json!({"format": 1, "clock": 0, "parts": parts});
    text("callosum://session/index", &offer.to_string())
}

fn sync_from(env: &TestEnv, options: &[&str], command: &[String]) -> Output {
    let mut arguments = vec!["session", "sync"];
    arguments.extend(options);
    arguments.push("--");
    arguments.extend(command.iter().map(String::as_str));
    env.run(arguments)
}

/// LOA-FUT-1: what was decided, planned and recorded in one checkout arrives in the other, by its path or
/// by a command, in both directions; a dry run writes nothing, and a second run has nothing to take.
#[test]
fn two_checkouts_take_from_each_other() {
    let (env, other) = two_checkouts();
    decide(&env, &env.project(), "Use one pool");
    decide(&env, &other, "Retry twice");
    let create = ["bead", "create", "Pool the sockets", "--id", "bd-1"];
    inside(&env, &other, &create).success();
    let path = other.to_str().unwrap();

    let before = files(&env.project());
    let dry = env.run(["session", "sync", path, "--dry-run"]).success();
    for expected in [
        "decision added: 2026-01-02T03:04:05Z Retry twice\n",
        "bead added: bd-1\n",
        "dry run: nothing was written\n",
    ] {
        assert!(dry.stdout.contains(expected), "{dry:?}");
    }
    assert_eq!(files(&env.project()), before);

    let done = env
        .run(["session", "sync", path, "--json"])
        .success()
        .json();
    assert_eq!(Schema::published("output-session-sync").fault(&done), None);
    assert_eq!(done["decisions"][0]["title"], "Retry twice");
    assert_eq!(done["beads"][0]["id"], "bd-1");
    assert_eq!(
        (&done["changed"], &done["conflicts"]),
        (&json!(true), &json!([]))
    );
    let recovered = env.run(["session", "recover", "--level", "2"]).success();
    for decision in ["Retry twice [quote found]", "Use one pool [quote found]"] {
        assert!(recovered.stdout.contains(decision), "{recovered:?}");
    }
    env.run(["session", "check"]).success();
    let record = env.read("loa-grimoire/a2a/trajectory/implementing-tasks-2026-01-02.jsonl");
    let mut records = record
        .lines()
        .filter(|line| line.contains("\"phase\":\"sync\""));
    let record: Value = serde_json::from_str(records.next().unwrap()).unwrap();
    assert_eq!(
        (&record["phase"], &record["from"]),
        (&json!("sync"), &json!(path))
    );

    let before = files(&env.project());
    let again = env.run(["session", "sync", path]).success();
    assert_eq!(again.stdout, "nothing to take\n");
    assert_eq!(files(&env.project()), before);

    // The other way round, by a command.
    let program = callosum_testkit::fakes::program("callosum")
        .display()
        .to_string();
    let here = env.project().display().to_string();
    let command = ["session", "sync", "--", &program, "-C", &here, "mcp"];
    let back = inside(&env, &other, &command).success();
    assert!(
        back.stdout
            .contains("decision added: 2026-01-02T03:04:05Z Use one pool\n"),
        "{back:?}"
    );
    let again = inside(&env, &other, &command).success();
    assert_eq!(again.stdout, "nothing to take\n");
    let again = env.run(["session", "sync", path]).success();
    assert_eq!(again.stdout, "nothing to take\n");
}

/// LOA-FUT-1: a bead that both changed keeps our value, is named, and the exit code says so, as
/// `session merge` does.
#[test]
fn a_conflict_is_named_and_ours_stays() {
    let (env, other) = two_checkouts();
    let path = other.to_str().unwrap();
    env.run(["bead", "create", "Pool", "--id", "bd-1"])
        .success();
    let here = env.project().display().to_string();
    inside(&env, &other, &["session", "sync", &here]).success();
    env.run(["session", "sync", path]).success();
    env.run(["bead", "update", "bd-1", "--status", "blocked"])
        .success();
    inside(
        &env,
        &other,
        &["bead", "update", "bd-1", "--status", "deferred"],
    )
    .success();
    decide(&env, &other, "Retry twice");
    let synced = env.run(["session", "sync", path]).ended_with(1);
    assert!(
        synced
            .stdout
            .contains("conflict, kept ours: .beads/bd-1.yaml: status\n"),
        "{synced:?}"
    );
    assert!(synced.stdout.contains("Retry twice"), "{synced:?}");
    assert!(
        synced.stderr.contains("1 conflict: our value was kept"),
        "{synced:?}"
    );
    assert!(env.read(".beads/bd-1.yaml").contains("status: blocked"));
    // A change of one side alone arrives.
    inside(
        &env,
        &other,
        &["bead", "update", "bd-1", "--status", "blocked"],
    )
    .success();
    env.run(["session", "sync", path]).success();
    inside(&env, &other, &["bead", "close", "bd-1"]).success();
    let synced = env.run(["session", "sync", path]).success();
    assert!(
        synced.stdout.contains("bead changed: bd-1 (status, closed"),
        "{synced:?}"
    );
}

/// LOA-FUT-1, LOA-SEC-1: nothing that a server sends is written unchecked, and the error names the fault.
#[test]
fn a_hostile_server_changes_nothing() {
    let (env, _) = two_checkouts();
    decide(&env, &env.project(), "Use one pool");
    let before = files(&env.project());
    let outside = env.folder().join("outside.yaml");
    let uri = "callosum://session/notes";
    let long = "x".repeat(5 << 20);
    let many: Vec<String> = (0..20_001)
        .map(|n| format!("callosum://session/beads/bd-{n}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let escape = "callosum://session/beads/../../outside";
    for (name, results, before_each, expected) in [
        (
            "no index",
            vec![],
            "",
            "it has no `callosum://session/index`: no such thing",
        ),
        (
            "not json",
            vec![("index", text("x", "hello"))],
            "",
            "its list of session files cannot be read",
        ),
        (
            "escape",
            vec![
                ("index", index(&[escape])),
                ("beads", text(escape, "id: x\n")),
            ],
            "",
            "which is not the name of a session file",
        ),
        (
            "twice",
            vec![("index", index(&[uri, uri]))],
            "",
            "it lists `callosum://session/notes` twice",
        ),
        (
            "agent",
            vec![(
                "index",
                index(&["callosum://session/trajectory/-rf/2026-01-02"]),
            )],
            "",
            "which is not the name of a session file",
        ),
        (
            "many",
            vec![("index", index(&many))],
            "",
            "it lists more than 20000 session files",
        ),
        (
            "long",
            vec![("index", index(&[uri])), ("notes", text(uri, &long))],
            "",
            "not taken: loa-grimoire/NOTES.md: it is larger than 4 MiB",
        ),
        (
            "missing",
            vec![("index", index(&[uri]))],
            "",
            "not taken: loa-grimoire/NOTES.md: the other side did not deliver it",
        ),
        (
            "ends",
            vec![("index", index(&[uri]))],
            r"case $resource in notes) echo gone >&2; exit 3 ;; esac",
            "its server ended; its last words: gone",
        ),
        (
            "endless",
            vec![("index", index(&[uri]))],
            r"case $resource in notes) yes | tr -d '\n' ;; esac",
            "it sent too much: more than 64 MiB, or 16 MiB in one message",
        ),
        (
            "silent",
            vec![],
            "printf 'Welcome!\\n\\377\\n'; continue",
            "it sent nothing for 2 s; it wrote a line that is not a message: `Welcome!`",
        ),
    ] {
        let command = hostile(&env, name, before_each, &results);
        let synced = sync_from(&env, &["--timeout", "2s"], &command).ended_with(1);
        let printed = format!("{}{}", synced.stdout, synced.stderr);
        assert!(printed.contains(expected), "{name}: {printed}");
        assert_eq!(files(&env.project()), before, "{name}");
        assert!(!outside.exists(), "{name}");
    }
    let missing = sync_from(&env, &[], &["no-such-program-anywhere".to_owned()]).ended_with(1);
    assert!(missing.stderr.contains("was not found"), "{missing:?}");
}

/// LOA-FUT-1: noise around the messages of a sound server, such as a greeting of the machine, does no
/// harm, and neither does text that no terminal should obey.
#[test]
fn noise_does_no_harm() {
    let (env, _) = two_checkouts();
    let uri = "callosum://session/notes";
    let entry = "# NOTES\n\n## Session Continuity\n\n### Decision Log\n\n#### 2026-01-01T00:00:00Z - Turn \u{202e}left\n\n**Decision**: Turn \u{202e}left\n";
    let results = [("index", index(&[uri])), ("notes", text(uri, entry))];
    let command = hostile(&env, "noisy", "echo Welcome", &results);
    let synced = sync_from(&env, &[], &command).success();
    assert!(
        synced
            .stdout
            .contains("decision added: 2026-01-01T00:00:00Z Turn \\u{202e}left\n"),
        "{synced:?}"
    );
    assert!(env.read(NOTES).contains("Turn \u{202e}left"));
}

/// LOA-FUT-1: a project that is not known here, has no sessions, or is this one is refused with words.
#[test]
fn a_project_without_sessions_is_refused() {
    let (env, _) = two_checkouts();
    let here = env.project().display().to_string();
    let own = env.run(["session", "sync", &here]).ended_with(2);
    assert!(own.stderr.contains("is this project itself"), "{own:?}");
    let bare = env.folder().join("bare");
    std::fs::create_dir(&bare).unwrap();
    let unknown = env
        .run(["session", "sync", bare.to_str().unwrap()])
        .ended_with(2);
    assert!(
        unknown
            .stderr
            .contains("was not initialized on this machine"),
        "{unknown:?}"
    );
    env.run(["session", "sync"]).ended_with(2);
}

/// LOA-FUT-1, LOA-SEC-1: the server's resources are the session files, without secrets, and nothing else
/// of the project; what is invisible is shown, and the exact text is in `_meta`.
#[test]
fn resources_are_the_session_files_and_nothing_else() {
    let (env, _) = two_checkouts();
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6");
    env.write(
        ".beads/bd-1.yaml",
        format!("id: bd-1\ntitle: Turn \u{202e}left\ntoken: {token}\n"),
    );
    env.write(".beads/config.yaml", "of: another program\n");
    let outside = env.folder().join("outside.yaml");
    env.write(&outside, "id: bd-2\n");
    std::os::unix::fs::symlink(&outside, env.project().join(".beads/bd-2.yaml")).unwrap();
    decide(&env, &env.project(), "Use one pool");
    let mut server = Server::start(&env);
    server.initialize("codex-mcp-client");
    let listed = server.ask("resources/list", &json!({}))["result"].clone();
    let resources = listed["resources"].as_array().unwrap();
    let uris: Vec<&str> = resources
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "callosum://session/index",
            "callosum://session/notes",
            "callosum://session/beads/bd-1",
            "callosum://session/trajectory/implementing-tasks/2026-01-02",
        ]
    );
    let mut read = |uri: &str| server.ask("resources/read", &json!({"uri": uri}));
    let notes = read("callosum://session/notes");
    let notes = &notes["result"]["contents"][0];
    assert_eq!(notes["text"], env.read(NOTES));
    assert_eq!(notes["mimeType"], "text/markdown");
    assert!(notes.get("_meta").is_none());
    let bead = read("callosum://session/beads/bd-1");
    let bead = &bead["result"]["contents"][0];
    assert_eq!(
        bead["text"],
        "id: bd-1\ntitle: Turn \\u{202e}left\ntoken: [secret: github token]\n"
    );
    assert_eq!(
        bead["_meta"]["callosum/exact"],
        "id: bd-1\ntitle: Turn \u{202e}left\ntoken: [secret: github token]\n"
    );
    for uri in [
        "callosum://session/beads/bd-2",
        "callosum://session/beads/bd-9",
        "callosum://session/beads/../src/a",
        "callosum://session/beads/config",
        "file:///etc/passwd",
        "src/a.rs",
    ] {
        let error = read(uri)["error"].clone();
        assert!(error["message"].is_string(), "{uri}: {error}");
        assert!(!error.to_string().contains("another program"), "{error}");
    }
    assert_eq!(server.end(), 0);
    // A project without session files has no resources, and none is made by looking.
    let bare = env.folder().join("bare");
    std::fs::create_dir(&bare).unwrap();
    let mut server = Server::run(&env.callosum().in_folder(&bare).arguments(["mcp"]));
    server.initialize("codex-mcp-client");
    assert_eq!(
        server.ask("resources/list", &json!({}))["result"]["resources"],
        json!([])
    );
    assert_eq!(server.end(), 0);
    assert_eq!(std::fs::read_dir(&bare).unwrap().count(), 0);
}
