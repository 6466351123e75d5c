//! What coding agents are answered about tools of other servers, which are decided by what they do.

use serde_json::json;

use crate::hook::{decide, denied, event, passes, repository};

/// CAKE-SHIM-1: tools of other servers, and PowerShell, are decided on like the client's own.
#[test]
fn tools_of_other_servers_are_decided_on() {
    let env = repository();
    for (tool, input) in [
        (
            "PowerShell",
            json!({"command": "Remove-Item -Recurse -Force /etc"}),
        ),
        (
            "mcp__shell__run",
            json!({"command": "git", "args": ["reset", "--hard"]}),
        ),
        ("mcp__shell__run", json!({"commands": ["ls", "rm -rf /"]})),
        (
            "mcp__serena__create_text_file",
            json!({"relative_path": ".git/config"}),
        ),
        (
            "mcp__files__write_files",
            json!({"files": [{"path": ".calrc", "content": ""}]}),
        ),
        (
            "mcp__editor__str_replace_based_edit_tool",
            json!({"command": "create", "path": ".calrc"}),
        ),
        ("mcp__postgres__query", json!({"query": "DROP TABLE users"})),
        ("mcp__db__run", json!({"sql": "DELETE FROM users"})),
        (
            "mcp__repl__execute",
            json!({"code": "import shutil; shutil.rmtree('/')"}),
        ),
    ] {
        let mut call = event(&env, tool, input);
        call["permission_mode"] = "bypassPermissions".into();
        let output = decide(&env, "claude", &call);
        assert!(denied("claude", &output).is_some(), "{tool}: {output:?}");
    }
    for (tool, input) in [
        ("PowerShell", json!({"command": "Get-ChildItem"})),
        (
            "mcp__shell__run",
            json!({"command": "git", "args": ["status"]}),
        ),
        (
            "mcp__postgres__query",
            json!({"query": "SELECT * FROM users"}),
        ),
        (
            "mcp__github__search_code",
            json!({"query": "rm -rf / DROP TABLE"}),
        ),
        (
            "mcp__serena__find_symbol",
            json!({"relative_path": "../../etc"}),
        ),
        ("mcp__repl__execute", json!({"code": "print(1)"})),
    ] {
        passes(&decide(&env, "claude", &event(&env, tool, input)));
    }
}

/// CAKE-SHIM-1: who deletes or moves by a tool of another server is told what the guard says of the
/// command that does the same, and what is a command in other words is one.
#[test]
fn what_a_tool_does_is_decided_like_the_command_that_does_it() {
    let env = repository();
    let home = env.home().display().to_string();
    let root = env.project().display().to_string();
    let places = [
        "/",
        ".",
        "..",
        "~",
        &home,
        &root,
        ".git",
        "~/notes",
        "src/lib.rs",
        "/etc",
    ];
    for place in places {
        let shown = if place.starts_with('~') {
            place.to_owned()
        } else {
            format!("'{place}'")
        };
        for (tool, input, same) in [
            (
                "mcp__filesystem__delete_file",
                json!({"path": place}),
                format!("rm -r -- {shown}"),
            ),
            (
                "mcp__files__remove_directory",
                json!({"arguments": {"directory": place}}),
                format!("rm -r -- {shown}"),
            ),
            (
                "mcp__filesystem__move_file",
                json!({"source": place, "destination": "x"}),
                format!("mv -- {shown} x"),
            ),
        ] {
            let said = env.run(["guard", "check", "--json", "--", &same]);
            let expected = match said.json()["decision"].as_str().unwrap() {
                "allow" => None,
                "block" => Some("deny"),
                asked => Some(asked),
            }
            .map(ToOwned::to_owned);
            let output = decide(&env, "claude", &event(&env, tool, input));
            let decision = output.json()["hookSpecificOutput"]["permissionDecision"].clone();
            let decision = decision.as_str().map(ToOwned::to_owned);
            assert_eq!(decision, expected, "{tool} {place}: {output:?}");
        }
    }
    for (tool, input) in [
        ("mcp__fs__delete_file", json!({"path": "/"})),
        ("mcp__fs__rmdir", json!({"directory": "."})),
        ("mcp__fs__trash", json!({"paths": ["src", "~"]})),
        (
            "mcp__fs__move_file",
            json!({"source": home, "destination": "x"}),
        ),
        (
            "mcp__fs__delete_file",
            json!({"uri": format!("file://{home}")}),
        ),
        (
            "mcp__fs__write_file",
            json!({"path": "~/.claude/settings.json"}),
        ),
        (
            "mcp__pg__ask",
            json!({"input": {"query": "DROP TABLE users"}}),
        ),
        (
            "mcp__jupyter__execute",
            json!({"arguments": {"code": "import shutil; shutil.rmtree('/')"}}),
        ),
        ("mcp__x__run", json!({"cmdline": "git reset --hard"})),
        (
            "mcp__tmux__send_keys",
            json!({"keys": "git reset --hard\n"}),
        ),
        (
            "mcp__x__run",
            json!({"args": {"shell_command": "git reset --hard"}}),
        ),
    ] {
        let mut call = event(&env, tool, input);
        call["permission_mode"] = "bypassPermissions".into();
        let output = decide(&env, "claude", &call);
        assert!(denied("claude", &output).is_some(), "{tool}: {output:?}");
    }
    for (tool, input) in [
        ("mcp__fs__delete_file", json!({"path": "src/lib.rs"})),
        (
            "mcp__fs__move_file",
            json!({"source": "src/lib.rs", "destination": "src/a.rs"}),
        ),
        ("mcp__mail__delete_message", json!({"id": "/"})),
        ("mcp__mail__send", json!({"text": "git reset --hard"})),
        ("mcp__tmux__send_keys", json!({"keys": ["ls", "Enter"]})),
    ] {
        passes(&decide(&env, "claude", &event(&env, tool, input)));
    }
}

/// CAKE-SHIM-1: what a tool of a known server is asked is decided on as the command that does it, and
/// one that only reads passes.
#[test]
fn tools_of_known_servers_are_decided_on_as_their_commands() {
    let env = repository();
    let root = env.project().display().to_string();
    for (tool, input, rule) in [
        (
            "mcp__git__git_reset",
            json!({"mode": "hard", "repo_path": &root}),
            "git.reset-hard",
        ),
        (
            "mcp__git__git_clean",
            json!({"force": true, "directories": true, "path": &root}),
            "git.clean",
        ),
        (
            "mcp__git__git_push",
            json!({"remote": "origin", "branch": "main", "force": true}),
            "git.push-force",
        ),
        (
            "mcp__git__git_branch",
            json!({"mode": "delete", "branchName": "old", "force": true}),
            "git.branch-delete",
        ),
        ("mcp__redis__flushall", json!({}), "redis.flush"),
        (
            "mcp__mongodb__drop-collection",
            json!({"database": "shop", "collection": "users"}),
            "mongo.destroy",
        ),
        (
            "mcp__qdrant__delete_collection",
            json!({"collection_name": "docs"}),
            "store.delete-index",
        ),
        (
            "mcp__notes__delete_collection",
            json!({"name": "x"}),
            "tool.deletes-all",
        ),
        (
            "mcp__kubernetes__kubectl_delete",
            json!({"resourceType": "namespace", "name": "prod"}),
            "kubernetes.delete-many",
        ),
    ] {
        let mut call = event(&env, tool, input);
        call["permission_mode"] = "bypassPermissions".into();
        let output = decide(&env, "claude", &call);
        let reason = denied("claude", &output);
        assert!(
            reason
                .as_deref()
                .is_some_and(|reason| reason.contains(rule)),
            "{tool}: {output:?}"
        );
    }
    for (tool, input) in [
        ("mcp__git__git_reset", json!({"repo_path": &root})),
        ("mcp__git__git_status", json!({"repo_path": &root})),
        (
            "mcp__git__git_branch",
            json!({"mode": "delete", "branchName": "old"}),
        ),
        ("mcp__redis__get", json!({"key": "flushall"})),
        ("mcp__mongodb__find", json!({"collection": "users"})),
        (
            "mcp__github__delete_repository_secret",
            json!({"name": "x"}),
        ),
    ] {
        passes(&decide(&env, "claude", &event(&env, tool, input)));
    }
}
