//! Recorded events of the four clients.

mod calls;
mod servers;
mod unreadable;

use serde_json::json;

use super::*;

fn read(value: &Value) -> Result<Event, Unreadable> {
    Event::read(value.to_string().as_bytes())
}

fn acts(tool: &str, input: Value) -> Result<Action, Unreadable> {
    read(&json!({"tool_name": tool, "tool_input": input})).map(|event| event.action)
}

fn shell(command: &str) -> Action {
    Action::Shell(command.to_owned())
}

fn write(paths: &[&str]) -> Action {
    Action::Write(paths.iter().map(|&path| path.to_owned()).collect())
}

/// As the plugin sends what opencode 1.18.33 gives its tools.
#[test]
fn what_opencode_gives_its_tools_is_read() {
    let patch = "*** Begin Patch\n*** Delete File: src/a.rs\n*** Add File: b.rs\n+x\n*** End Patch";
    for (tool, input, expected) in [
        (
            "bash",
            json!({"command": "ls -la", "description": "look"}),
            shell("ls -la"),
        ),
        (
            "write",
            json!({"filePath": "/p/a.rs", "content": "x"}),
            write(&["/p/a.rs"]),
        ),
        (
            "edit",
            json!({"filePath": "/p/a.rs", "oldString": "x", "newString": "y"}),
            write(&["/p/a.rs"]),
        ),
        (
            "apply_patch",
            json!({"patchText": patch}),
            write(&["src/a.rs", "b.rs"]),
        ),
        ("read", json!({"filePath": "/p/a.rs"}), Action::Other),
        ("todowrite", json!({"todos": []}), Action::Other),
    ] {
        assert_eq!(acts(tool, input), Ok(expected), "{tool}");
    }
    let of_patch = json!({"tool_name": "apply_patch", "tool_input": {"patchText": patch}});
    assert!(read(&of_patch).unwrap().removes);
    let elsewhere = json!({"command": "ls", "workdir": "sub"});
    let elsewhere = json!({"cwd": "/p", "tool_name": "bash", "tool_input": elsewhere});
    let folder = read(&elsewhere).unwrap().folder;
    assert_eq!(folder.unwrap(), Path::new("/p/sub"));
    for tool in ["bash", "write", "apply_patch"] {
        assert!(acts(tool, json!({})).is_err(), "{tool}");
    }
}

/// CAKE-ADP-1: recorded with Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.24.4.
#[test]
fn what_the_clients_sent_is_read() {
    let ls = || Action::Shell("ls -la".to_owned());
    let of = |action, folder: &str, tool: &str| (action, folder.to_owned(), tool.to_owned());
    for (recorded, expected) in [
        (
            &include_bytes!("recorded/claude.PreToolUse.json")[..],
            of(ls(), "/home/dev/src/c1", "Bash"),
        ),
        (
            include_bytes!("recorded/claude.PreToolUse.subagent.json"),
            of(
                Action::Shell("echo insub".to_owned()),
                "/home/dev/src/c1",
                "Bash",
            ),
        ),
        (
            include_bytes!("recorded/claude.PermissionRequest.json"),
            of(
                Action::Shell("touch yy".to_owned()),
                "/home/dev/src/c2",
                "Bash",
            ),
        ),
        (
            include_bytes!("recorded/codex.PreToolUse.json"),
            of(ls(), "/home/dev/src/x1", "Bash"),
        ),
        (
            include_bytes!("recorded/codex.PreToolUse.apply_patch.json"),
            of(
                Action::Write(vec!["new.txt".to_owned()]),
                "/home/dev/src/x1",
                "apply_patch",
            ),
        ),
        (
            include_bytes!("recorded/gemini.BeforeTool.json"),
            of(ls(), "/home/dev/src/g1", "run_shell_command"),
        ),
        (
            include_bytes!("recorded/gemini.BeforeTool.mcp.json"),
            of(Action::Other, "/home/dev/src/g1", "mcp_probe_probe_echo"),
        ),
        (
            include_bytes!("recorded/qwen.PreToolUse.json"),
            of(ls(), "/home/dev/src/q1", "run_shell_command"),
        ),
    ] {
        let event = Event::read(recorded).unwrap();
        let folder = event.folder.unwrap().display().to_string();
        assert_eq!((event.action, folder, event.tool.unwrap()), expected);
    }
}

#[test]
fn who_calls_is_kept_as_far_as_the_client_says_it() {
    let event = Event::read(include_bytes!("recorded/claude.PreToolUse.subagent.json")).unwrap();
    assert_eq!(event.name.as_deref(), Some("PreToolUse"));
    assert_eq!(event.agent.as_deref(), Some("a31229cde7114f3b2"));
    assert_eq!(event.mode.as_deref(), Some("default"));
    assert_eq!(
        event.call.as_deref(),
        Some("toolu_5808295b2dfe4b4a8deedf34")
    );
    let long = "x".repeat(100_000);
    let event = read(&json!({"tool_name": "Read", "session_id": long, "tool_use_id": 7})).unwrap();
    assert_eq!(event.session.unwrap().len(), LONGEST_ID);
    assert_eq!(event.call, None);
}

#[test]
fn files_that_a_tool_would_write_are_named() {
    for (tool, input, expected) in [
        (
            "Write",
            json!({"file_path": "/a", "content": "x"}),
            &["/a"][..],
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb"}),
            &["n.ipynb"],
        ),
        (
            "replace",
            json!({"file_path": "a/b", "old_string": ""}),
            &["a/b"],
        ),
        (
            "mcp_files_write_files",
            json!({"paths": ["a", 7, "b"]}),
            &["a", "b"],
        ),
        (
            "mcp__files__create_file",
            json!({"uri": "file:///etc/a%20b", "url": "https://example.org/x"}),
            &["/etc/a b"],
        ),
        // An escape that is none is written as it is, since programs take it so.
        (
            "mcp__files__create_file",
            json!({"uri": "file:///etc/100%/a%2"}),
            &["/etc/100%/a%2"],
        ),
        (
            "mcp__serena__delete_lines",
            json!({"relative_path": "a.rs", "start": 1}),
            &["a.rs"],
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(write(expected)), "{tool}");
    }
    for (tool, input) in [
        ("WebFetch", json!({"url": "https://example.org"})),
        ("mcp__x__write", json!({"text": "y"})),
        ("TodoWrite", json!({"todos": []})),
        ("Anything", json!(null)),
        ("Workflow", json!({"script": "await agent('rm -rf /')"})),
    ] {
        assert_eq!(acts(tool, input), Ok(Action::Other), "{tool}");
    }
}

#[test]
fn tools_that_read_name_the_files_that_they_read() {
    let read = |paths: &[&str]| {
        Ok(Action::Read(
            paths.iter().map(|path| (*path).into()).collect(),
        ))
    };
    for (tool, input, expected) in [
        (
            "Read",
            json!({"file_path": "/etc/passwd"}),
            read(&["/etc/passwd"]),
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": "src"}),
            read(&["src"]),
        ),
        (
            "read_many_files",
            json!({"paths": ["a", "b"]}),
            read(&["a", "b"]),
        ),
        (
            "mcp__files__read_file",
            json!({"path": "file:///etc/passwd"}),
            read(&["/etc/passwd"]),
        ),
        ("Grep", json!({"pattern": "x"}), Ok(Action::Other)),
        (
            "Glob",
            json!({"pattern": ".env", "path": "src"}),
            Ok(Action::Other),
        ),
    ] {
        assert_eq!(acts(tool, input), expected, "{tool}");
    }
}

#[test]
fn a_command_is_one_for_any_tool() {
    assert_eq!(acts("Bash", json!({"command": "ls"})), Ok(shell("ls")));
    assert_eq!(acts("Bash", json!({"command": ""})), Ok(shell("")));
    assert_eq!(
        acts("write_stdin", json!({"chars": "git reset --hard\n"})),
        Ok(shell("git reset --hard\n"))
    );
    assert_eq!(
        acts("mcp__remote__run", json!({"cmd": "rm -rf /"})),
        Ok(shell("rm -rf /"))
    );
    assert_eq!(
        acts(
            "shell",
            json!({"command": ["bash", "-lc", "git reset --hard"]})
        ),
        Ok(shell("bash -lc 'git reset --hard'"))
    );
    let event = read(&json!({
        "cwd": "/home/dev", "tool_name": "run_shell_command",
        "tool_input": {"command": "ls", "directory": "sub"},
    }));
    assert_eq!(event.unwrap().folder, Some(PathBuf::from("/home/dev/sub")));
}
