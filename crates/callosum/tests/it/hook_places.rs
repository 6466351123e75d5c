//! `hook`: where a call happens, and what is the project's there.

use std::path::Path;

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use crate::hook::{command, decide, denied, event, repository};

/// Whether Codex is kept from a command in a folder.
fn is_denied(env: &TestEnv, folder: &Path, line: &str) -> bool {
    let mut call = command(env, "codex", line);
    call["cwd"] = folder.display().to_string().into();
    denied("codex", &decide(env, "codex", &call)).is_some()
}

/// CAKE-SHIM-1: a call that is given a folder of its own does not make that folder the project: that is where
/// the hook was started.
#[test]
fn the_folder_of_one_call_is_not_the_project() {
    let env = repository();
    for (folder, stopped) in [("/srv/elsewhere", true), ("src", false)] {
        let folder = env.project().join(folder);
        assert_eq!(
            is_denied(&env, &folder, "rm -rf lib*"),
            stopped,
            "{folder:?}"
        );
    }
}

/// CAKE-SHIM-1: a folder that the user has given the client is written in freely, and as a whole, with its
/// repository and our records, as the project's own; what is deleted in it is asked about. What a project's own
/// settings say of that, and what holds the home, is not given.
#[test]
fn a_folder_that_the_user_has_given_is_written_in_freely() {
    let env = repository();
    let settings = |folders: &[&str]| json!({"permissions": {"additionalDirectories": folders}});
    let home = env.home().display().to_string();
    let asks = |client: &str, path: &str| {
        let write = event(&env, "Write", json!({"file_path": path, "content": "x"}));
        let said = decide(&env, client, &write);
        let said = format!("{}{}", said.stdout, said.stderr);
        assert!(said == "{}\n" || said.contains("protect."), "{said}");
        said != "{}\n"
    };
    let inner = format!("{home}/notes/x");
    env.write(
        ".claude/settings.json",
        settings(&["/opt/x", &home]).to_string(),
    );
    assert!(asks("claude", "/opt/x/y"));
    assert!(asks("claude", &inner));
    env.write(
        env.home().join(".claude/settings.json"),
        settings(&["/opt/x", "~/notes", "/", &home, "relative"]).to_string(),
    );
    assert!(!asks("claude", "/opt/x/y"));
    assert!(!asks("claude", &inner));
    assert!(asks("codex", "/opt/x/y"));
    assert!(asks("claude", &format!("{home}/other")));
    assert!(asks("claude", &format!("{home}/relative/x")));
    assert!(asks("claude", &format!("{home}/.claude/settings.json")));
    env.write(&inner, "x\n");
    let said = |line: &str| {
        let output = decide(&env, "claude", &command(&env, "claude", line));
        output.json()["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for line in [
        "echo x > ~/notes/y",
        "sed -i s/x/y/ ~/notes/x",
        "cp README.md ~/notes/",
        "touch ~/notes/z",
    ] {
        assert_eq!(said(line), Value::Null, "{line}");
    }
    for line in [
        "rm ~/notes/x",
        "rm -rf ~/notes/*",
        "find ~/notes -name '*.md' -delete",
    ] {
        assert_eq!(said(line), "ask", "{line}");
    }
    env.write(env.home().join("notes/.git/HEAD"), "ref: refs/heads/main\n");
    for line in [
        "rm -rf ~/notes",
        "cd ~/notes && rm -rf .git",
        "find ~/notes -delete",
        "mv ~/notes /tmp/x",
        "rsync -a --delete /tmp/e/ ~/notes/",
        "echo x > ~/notes/.git/config",
        "echo x > ~/notes/.calrc",
    ] {
        assert_eq!(said(line), "deny", "{line}");
    }
}

/// CAKE-SHIM-1: a word of `git checkout` that stands in the tree is a file or a folder, unless a branch has the name.
#[test]
fn a_folder_is_not_taken_for_a_branch() {
    let env = repository();
    env.write("docs/a.md", "a\n");
    env.write("topic/a.md", "a\n");
    env.git(&["branch", "topic"]);
    env.git(&["branch", "packed/topic"]);
    env.write("packed/topic/a.md", "a\n");
    env.git(&["pack-refs", "--all"]);
    env.git(&["branch", "loose"]);
    env.git(&["branch", "docs/readme"]);
    env.write("loose/a.md", "a\n");
    for (line, stopped) in [
        ("git checkout src", true),
        ("git checkout docs", true),
        ("git checkout ./docs/../src", true),
        ("cd docs && git checkout a.md", true),
        ("git -C src checkout ../docs", true),
        ("git checkout topic", false),
        ("git checkout packed/topic", false),
        ("git checkout loose", false),
        ("git checkout other", false),
        ("git checkout -b src", false),
    ] {
        assert_eq!(is_denied(&env, &env.project(), line), stopped, "{line}");
    }
}

/// CAKE-SHIM-1: where a folder is gone to that is not there, what follows runs where the call is.
#[test]
fn a_folder_that_is_not_there_is_not_gone_to() {
    let env = repository();
    for (line, stopped) in [
        ("cd /tmp/no-such-folder; rm -rf *", true),
        ("cd /tmp/no-such-folder; rm -rf .git", true),
        ("cd /tmp/no-such-folder || true; git reset --hard", true),
        ("cd nope\ngit clean -fdx", true),
        ("cd nope && true; rm -rf *", true),
        ("cd nope && ls\nrm -rf .git", true),
        ("pushd nope; rm -rf *", true),
        ("cd -- nope; rm -rf *", true),
        ("cd 'no such folder'; rm -rf *", true),
        ("bash -c 'cd nope; rm -rf *'", true),
        ("fish -c 'cd /tmp/no-such-folder; rm -rf *'", true),
        (
            "pwsh -c 'Set-Location C:\\nope; Remove-Item * -Recurse -Force'",
            true,
        ),
        ("cd \"$PWD/nope\"; rm -rf *", true),
        ("cd nope || { echo fail; }; rm -rf *", true),
        ("echo set -e; cd nope; rm -rf *", true),
        ("echo nope; cd nope; rm -rf *", true),
        (
            "cd src; cd ..; cd src; cd ..; cd src; cd ..; cd nope; rm -rf *",
            true,
        ),
        ("cd nope; cd nope; rm -rf *", true),
        ("cd nope || { echo fail; exit 1; }; rm -rf *", false),
        ("set -e; cd nope; rm -rf *", false),
        ("bash -euc 'cd nope; rm -rf *'", false),
        ("cd nope || mkdir nope && cd nope; rm -rf *", false),
        ("cd nope && ls; rm -rf target", false),
        ("bash -c 'cd nope && rm -rf *'", false),
        ("cd /tmp; rm -rf x", false),
        ("cd nope && rm -rf *", false),
        ("cd nope || exit 1; rm -rf *", false),
        ("mkdir -p build/x; cd build/x; rm -rf *", false),
        (
            "git clone -q https://example.org/a/made; cd made; rm -rf target",
            false,
        ),
    ] {
        assert_eq!(is_denied(&env, &env.project(), line), stopped, "{line}");
    }
}

/// CAKE-SHIM-1: a worktree beside the session's is worked in as the project is; what is deleted in another tree
/// than that of the call is asked about.
#[test]
fn a_worktree_beside_the_project_is_worked_in() {
    let env = repository();
    let beside = env.home().join("beside");
    let path = beside.display().to_string();
    env.git(&["worktree", "add", "-q", &path]);
    for (line, stopped) in [
        ("echo x > notes.txt", false),
        ("sed -i s/one/two/ src/lib.rs", false),
        ("rm -rf src/lib.rs", false),
        ("echo x > ../elsewhere", true),
        ("rm -rf ../beside", true),
        ("rm .git", true),
    ] {
        assert_eq!(is_denied(&env, &beside, line), stopped, "{line}");
    }
    for (line, stopped) in [
        (format!("echo x > {path}/notes.txt"), false),
        (format!("rm {path}/src/lib.rs"), true),
        (format!("rm -rf {path}"), true),
    ] {
        assert_eq!(is_denied(&env, &env.project(), &line), stopped, "{line}");
    }
    // What only says that it is one is none.
    let other = env.home().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(beside.join(".git"), other.join(".git")).unwrap();
    assert!(is_denied(&env, &other, "echo x > a.txt"));
}

/// CAKE-SHIM-1: several files may be moved to a folder that exists, and not to a name that would be one file.
#[test]
fn several_files_are_moved_only_to_a_folder_that_exists() {
    let env = repository();
    env.write("archive/old.csv", "1\n");
    env.write("data/a.csv", "1\n");
    env.write("data/b.csv", "2\n");
    for (line, stopped) in [
        ("for f in data/*.csv; do mv \"$f\" archive; done", false),
        ("for f in data/*.csv; do mv \"$f\" arhcive; done", true),
        (
            "cd data && for f in *.csv; do mv \"$f\" ../archive; done",
            false,
        ),
        (
            "cd data && for f in *.csv; do mv \"$f\" archive; done",
            true,
        ),
        ("ls data/*.csv | xargs -I{} mv {} archive", false),
        ("ls data/*.csv | xargs -I{} mv {} new", true),
    ] {
        assert_eq!(is_denied(&env, &env.project(), line), stopped, "{line}");
    }
}
