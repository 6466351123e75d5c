//! Commands that reach a shell by another way than a call of a shell tool: lines of skills, open shells, worktrees.

use callosum_testkit::TestEnv;
use serde_json::{Value, json};

use super::{
    clients::with_clients,
    hook::{ask, command, decide, denied, event, passes, repository},
};

fn skill_line(env: &TestEnv, command: &str) -> Value {
    let mut event = event(env, "Bash", json!({"command": command}));
    event["hook_event_name"] = "PreSkillShellCommand".into();
    event["command_name"] = "tidy".into();
    event["invoked_by"] = "user".into();
    event
}

/// CAKE-SHIM-1: a shell line of a skill is decided as a command, and answered under the event's own name.
#[test]
fn a_shell_line_of_a_skill_is_decided() {
    let env = repository();
    // A settings file may name the event, or the event itself does.
    for word in ["pre-skill-shell-command", "PreSkillShellCommand", ""] {
        for (text, is_denied) in [
            ("git reset --hard", true),
            ("git branch -D old", true),
            ("ls", false),
        ] {
            let line = skill_line(&env, text).to_string();
            let output = ask(&env, "claude", word, line);
            if !is_denied {
                passes(&output);
                continue;
            }
            let said = output.json();
            let said = &said["hookSpecificOutput"];
            assert_eq!(said["hookEventName"], "PreSkillShellCommand", "{output:?}");
            assert_eq!(said["permissionDecision"], "deny", "{output:?}");
        }
    }
}

/// CAKE-SHIM-1: where the client reports no such line, the file of a skill is read when the model is about to use it.
#[test]
fn a_skill_with_a_shell_line_is_decided_before_it_is_used() {
    let env = repository();
    env.write(
        ".claude/skills/tidy/SKILL.md",
        "First !`git reset --hard`.\n",
    );
    env.write(".claude/commands/look.md", "See !`git status`.\n");
    env.write(
        ".claude/commands/git/drop.md",
        "!`git checkout -- $ARGUMENTS`\n",
    );
    for (tool, input, is_denied) in [
        ("Skill", json!({"skill": "tidy"}), true),
        ("SlashCommand", json!({"command": "/tidy now"}), true),
        ("Skill", json!({"skill": "git:drop", "args": "."}), true),
        ("Skill", json!({"skill": "look"}), false),
        ("Skill", json!({"skill": "not-there"}), false),
    ] {
        let mut called = event(&env, tool, input.clone());
        called["permission_mode"] = "bypassPermissions".into();
        let output = decide(&env, "claude", &called);
        if is_denied {
            assert!(denied("claude", &output).is_some(), "{input}: {output:?}");
        } else {
            passes(&output);
        }
    }
}

/// CAKE-SHIM-1: Codex reports nothing of what it types into a shell that it has left open, so it opens none. Other clients
/// have no such tool.
#[test]
fn codex_opens_no_shell_to_type_into() {
    let env = repository();
    for text in ["bash", "sh -i", "cd src && python3", "env -i bash"] {
        let output = decide(&env, "codex", &command(&env, "codex", text));
        let reason = denied("codex", &output).unwrap();
        assert!(reason.contains("run it as one command"), "{text}: {reason}");
        assert!(reason.contains("hook.open-shell"), "{text}: {reason}");
    }
    for text in ["bash -c ls", "python3 -c 'print(1)'", "node app.js"] {
        passes(&decide(&env, "codex", &command(&env, "codex", text)));
    }
    passes(&decide(&env, "claude", &command(&env, "claude", "bash")));
}

/// CAKE-SHIM-1: leaving a worktree with its changes thrown away is decided as its forced removal.
#[test]
fn a_worktree_that_is_left_with_its_changes_is_asked_about() {
    let env = repository();
    for (input, is_asked) in [
        (json!({"action": "remove", "discard_changes": true}), true),
        (json!({"action": "remove", "discard_changes": false}), false),
        (json!({"action": "remove"}), false),
        (json!({"action": "keep", "discard_changes": true}), false),
    ] {
        let output = decide(&env, "claude", &event(&env, "ExitWorktree", input.clone()));
        let is_so = output.stdout.contains("\"ask\"");
        assert_eq!(is_so, is_asked, "{input}: {output:?}");
        assert_eq!(output.stdout.contains("git.worktree-remove"), is_asked);
    }
}

/// CAKE-ADP-1: command files whose shell lines no hook sees are named if the guard would stop one of them.
#[test]
fn doctor_names_command_files_that_the_guard_would_stop() {
    let env = with_clients();
    let found = |client: &str| {
        let said = env.run(["doctor", "--json"]).json();
        let name = format!("commands of {client}");
        let checks = said["checks"].as_array().unwrap().clone();
        let mut checks = checks.into_iter().filter(|check| check["name"] == *name);
        checks.next().map(|check| check["found"].to_string())
    };
    env.write(".gemini/commands/look.toml", "prompt = \"!{git status}\"\n");
    env.write(".qwen/commands/read.md", "Run git reset --hard yourself.\n");
    assert_eq!((found("gemini"), found("qwen")), (None, None));
    env.write(
        ".gemini/commands/git/tidy.toml",
        "prompt = \"!{git reset --hard}\"\n",
    );
    let of_user = env.home().join(".qwen/commands/tidy.md");
    env.write(of_user, "Now: !{git clean -fdx}\n");
    let gemini = found("gemini").unwrap();
    assert!(
        gemini.contains("git/tidy.toml") && !gemini.contains("look.toml"),
        "{gemini}"
    );
    assert!(found("qwen").unwrap().contains("tidy.md"));
}

/// CAKE-ADP-1: a variable with a `~` that no shell has expanded is refused, with what to type instead.
#[test]
fn a_folder_with_an_unexpanded_tilde_is_refused() {
    let env = with_clients();
    for (client, variable, value) in [
        ("claude", "CLAUDE_CONFIG_DIR", "~/claude"),
        ("codex", "CODEX_HOME", "~"),
        ("qwen", "QWEN_HOME", "~/q"),
    ] {
        for verb in ["init", "uninstall"] {
            let run = env.callosum().env(variable, value);
            let refused = run.arguments([verb, "--client", client]).run();
            let refused = refused.ended_with(3);
            assert!(refused.stderr.contains(variable), "{}", refused.stderr);
            let hint = value.replacen('~', "$HOME", 1);
            assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
        }
        assert!(!env.project().join("~").exists());
    }
    // A name that only begins so is one.
    let run = env
        .callosum()
        .env("CLAUDE_CONFIG_DIR", env.home().join("~c"));
    run.arguments(["init", "--guard", "--gate", "plugin", "--client", "claude"])
        .run()
        .success();
}
