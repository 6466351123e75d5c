//! What the four clients sent, as it was recorded, and what none of them would send.

use proptest::prelude::*;
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
        (
            "mcp__serena__delete_lines",
            json!({"relative_path": "a.rs", "start": 1}),
            &["a.rs"],
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(write(expected)), "{tool}");
    }
    for (tool, input) in [
        ("Read", json!({"file_path": "/etc/passwd"})),
        ("mcp__files__read_file", json!({"path": "/etc/passwd"})),
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
fn a_command_is_one_whatever_tool_it_is_told_to() {
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

/// CAKE-SHIM-1: a tool of another server is decided on by what it is given, whatever that is called.
#[test]
fn tools_of_other_servers_are_read_by_what_they_are_given() {
    for (tool, input, expected) in [
        (
            "PowerShell",
            json!({"command": "Remove-Item -Recurse x"}),
            "pwsh -Command 'Remove-Item -Recurse x'",
        ),
        (
            "mcp__x__run",
            json!({"command": "rm", "args": ["-rf", "/a b"]}),
            "rm -rf '/a b'",
        ),
        (
            "mcp__x__run",
            json!({"cmd": "git", "arguments": "reset --hard"}),
            "git reset --hard",
        ),
        (
            "mcp__x__run",
            json!({"commands": ["ls -la", "rm -rf /"]}),
            "ls -la\nrm -rf /",
        ),
        (
            "mcp__x__do",
            json!({"command": "rm", "path": "/etc"}),
            "rm /etc",
        ),
        (
            "mcp__pg__ask",
            json!({"sql": "DROP TABLE a"}),
            "psql -c 'DROP TABLE a'",
        ),
        (
            "mcp__postgres__query",
            json!({"query": "DROP TABLE a"}),
            "psql -c 'DROP TABLE a'",
        ),
        (
            "mcp__mysql__query",
            json!({"query": "SELECT 1"}),
            "mysql -e 'SELECT 1'",
        ),
        (
            "mcp__sqlite__write_query",
            json!({"query": "SELECT 1"}),
            "sqlite3 :memory: 'SELECT 1'",
        ),
        (
            "mcp__ide__executeCode",
            json!({"code": "print(1)"}),
            "python3 -c 'print(1)'",
        ),
        (
            "mcp__x__run_code",
            json!({"code": "ls", "language": "bash"}),
            "ls",
        ),
        (
            "mcp__x__eval",
            json!({"code": "f()", "language": "JavaScript"}),
            "node -e 'f()'",
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(shell(expected)), "{tool}");
    }
    for (tool, input, expected) in [
        (
            "mcp__serena__replace_body",
            json!({"relative_path": "a.rs"}),
            &["a.rs"][..],
        ),
        (
            "mcp__x__write_files",
            json!({"files": [{"path": "a"}, {"file_path": "/etc/b"}]}),
            &["a", "/etc/b"],
        ),
        (
            "mcp__x__edit",
            json!({"edits": [{"filePath": ".calrc", "text": ""}]}),
            &[".calrc"],
        ),
        ("mcp__x__save", json!({"files": ["a", "b"]}), &["a", "b"]),
        (
            "mcp__editor__tool",
            json!({"command": "create", "path": ".calrc"}),
            &[".calrc"],
        ),
        (
            "mcp__editor__tool",
            json!({"command": "str_replace", "path": "/etc/x"}),
            &["/etc/x"],
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(write(expected)), "{tool}");
    }
    for (tool, input) in [
        ("mcp__github__search_code", json!({"query": "DROP TABLE"})),
        ("mcp__x__format", json!({"code": "import os"})),
        ("mcp__x__list_files", json!({"files": ["/etc/passwd"]})),
    ] {
        assert_eq!(acts(tool, input), Ok(Action::Other), "{tool}");
    }
    let removes = |tool: &str, input: Value| {
        let event = read(&json!({"tool_name": tool, "tool_input": input})).unwrap();
        event.removes
    };
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    assert!(removes("apply_patch", json!({"command": patch})));
    assert!(!removes("Write", json!({"file_path": "a"})));
}

/// CAKE-SHIM-1: who removes, moves or copies is decided on like the command that does the same.
#[test]
fn what_is_done_to_paths_is_said_as_the_command_that_does_it() {
    for (tool, input, expected) in [
        (
            "mcp__filesystem__delete_file",
            json!({"path": "/"}),
            "rm -r -- /",
        ),
        (
            "mcp__fs__remove_directory",
            json!({"path": "~", "recursive": true}),
            "rm -r -- ~",
        ),
        (
            "mcp_fs_rmdir",
            json!({"directory": "a; b"}),
            "rm -r -- 'a; b'",
        ),
        (
            "mcp__fs__trash",
            json!({"paths": ["a", "-f"]}),
            "rm -r -- a -f",
        ),
        ("mcp__fs__deleteFile", json!({"filePath": ""}), "rm -r -- ."),
        (
            "mcp__fs__unlink",
            json!({"uri": "file:///home/dev/x"}),
            "rm -r -- /home/dev/x",
        ),
        (
            "mcp__fs__file",
            json!({"action": "delete", "path": "~/a b"}),
            "rm -r -- ~/'a b'",
        ),
        (
            "mcp__editor__tool",
            json!({"command": "delete", "path": ".."}),
            "rm -r -- ..",
        ),
        (
            "mcp__fs__move_file",
            json!({"source": ".", "destination": "/tmp/x"}),
            "mv -- . /tmp/x",
        ),
        (
            "mcp__fs__rename",
            json!({"path": "/home/dev/a", "new_name": "b"}),
            "mv -- /home/dev/a /home/dev/b",
        ),
        (
            "mcp__fs__move_files",
            json!({"moves": [{"from": "a", "to": "b"}, {"from": "/", "to": "c"}]}),
            "mv -- a b\nmv -- / c",
        ),
        (
            "mcp__fs__copy_file",
            json!({"source": "/etc/hosts", "destination": "x"}),
            "cp -r -- /etc/hosts x",
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(shell(expected)), "{tool}");
    }
    let home = Some(Path::new("/home/dev"));
    let event = read(&json!({"tool_name": "Write", "tool_input": {"file_path": "~/.bashrc"}}));
    let event = event.unwrap().at_home(home);
    assert_eq!(event.action, write(&["/home/dev/.bashrc"]));
    let event = read(&json!({
        "cwd": "/home/dev", "tool_name": "mcp__fs__rmdir", "tool_input": {"directory": "a"},
    }));
    assert_eq!(event.unwrap().folder, Some(PathBuf::from("/home/dev")));
}

/// CAKE-SHIM-1: what is to be done is found wherever it stands in what a tool is given.
#[test]
fn what_stands_within_other_objects_is_read_as_well() {
    for (tool, input, expected) in [
        (
            "mcp__x__call",
            json!({"input": {"cmdline": "rm -rf /"}}),
            "rm -rf /",
        ),
        (
            "mcp__x__call",
            json!({"name": "shell", "arguments": "{\"commandLine\": \"ls\"}"}),
            "ls",
        ),
        (
            "mcp__x__call",
            json!({"request": {"cwd": "/etc", "cmd": "rm *"}}),
            "cd -- /etc\nrm *",
        ),
        (
            "mcp__pg__call",
            json!({"params": {"query": "DROP TABLE a"}}),
            "psql -c 'DROP TABLE a'",
        ),
        (
            "batch",
            json!({"tool_calls": [
                {"tool": "Bash", "parameters": {"command": "ls"}},
                {"tool": "delete_file", "parameters": {"path": "/"}},
                {"tool": "Write", "parameters": {"file_path": ".calrc"}},
            ]}),
            "ls\nrm -r -- /\ntee -a -- .calrc",
        ),
        (
            "mcp__tmux__send_keys",
            json!({"keys": ["git reset --hard", "Enter"]}),
            "git reset --hard\n\ngit reset --hard \n",
        ),
        (
            "mcp__terminal__send",
            json!({"text": "rm -rf /\n"}),
            "rm -rf /\n",
        ),
        (
            "mcp__jupyter__execute_cell",
            json!({"cell_source": ["import os\n", "os.remove('/')"]}),
            "python3 -c \"import os\nos.remove('/')\"",
        ),
        (
            "mcp__puppeteer__evaluate",
            json!({"script": "document.title"}),
            "node -e document.title",
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(shell(expected)), "{tool}");
    }
    for (tool, input) in [
        ("mcp__meet__save", json!({"transcript": "rm -rf /"})),
        ("mcp__mail__send", json!({"text": "rm -rf /"})),
        ("mcp__github__delete_branch", json!({"branch": "a"})),
        (
            "Task",
            json!({"prompt": "remove /", "options": {"x": [1, {}]}}),
        ),
    ] {
        assert_eq!(acts(tool, input), Ok(Action::Other), "{tool}");
    }
    let deep = (0..100).fold(json!({"command": "ls"}), |inner, _| json!({"input": inner}));
    assert_eq!(acts("mcp__x__call", deep), Ok(shell("ls")));
}

/// CAKE-SHIM-1: what is to be decided and cannot be read is an error, never harmless.
#[test]
fn what_cannot_be_read_is_an_error() {
    let no_command = |tool: &str| {
        Err(Unreadable::NoCommand {
            tool: tool.to_owned(),
        })
    };
    assert_eq!(acts("Bash", json!({})), no_command("Bash"));
    assert_eq!(acts("Bash", json!({"command": 7})), no_command("Bash"));
    assert_eq!(acts("Bash", json!("rm -rf /")), no_command("Bash"));
    assert_eq!(
        acts("shell", json!({"command": ["rm", 7]})),
        no_command("shell")
    );
    let no_path = |tool: &str| {
        Err(Unreadable::NoPath {
            tool: tool.to_owned(),
        })
    };
    assert_eq!(acts("Write", json!({"file_path": null})), no_path("Write"));
    assert_eq!(
        acts("apply_patch", json!({"command": "*** Begin Patch"})),
        no_path("apply_patch")
    );
    for (tool, input) in [
        ("shell", json!({"command": ["a\0b"]})),
        ("Bash", json!({"command": "rm\0 -rf /"})),
        ("Write", json!({"file_path": "a\0b"})),
    ] {
        let tool = tool.to_owned();
        assert_eq!(acts(&tool.clone(), input), Err(Unreadable::Nul { tool }));
    }
    assert_eq!(read(&json!({"tool_input": {}})), Err(Unreadable::NoTool));
    assert_eq!(read(&json!({"tool_name": ""})), Err(Unreadable::NoTool));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for wrong in [
        &b""[..],
        b"null",
        b"[]",
        b"{",
        b"{\"tool_name\": \"Bash\"} x",
        b"{\"tool_name\": \"\xff\"}",
        b"{\"tool_name\": \"\\ud800\"}",
        b"\0",
        deep.as_bytes(),
    ] {
        assert_eq!(Event::read(wrong), Err(Unreadable::NotAnObject));
        assert_eq!(Event::observed(wrong), None);
    }
}

#[test]
fn a_command_of_ten_megabytes_is_read_and_more_than_any_client_sends_is_not() {
    let command = "echo x; ".repeat(1_300_000);
    assert_eq!(
        acts("Bash", json!({"command": command})),
        Ok(shell(&command))
    );
    assert_eq!(
        Event::read(&vec![b' '; LONGEST + 1]),
        Err(Unreadable::TooLong)
    );
}

proptest! {
    /// CAKE-SHIM-1: whatever comes, reading it ends, and a shell without a command is never passed.
    #[test]
    fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(Event::read(&bytes));
        drop(Event::observed(&bytes));
        let mut event = br#"{"tool_name":"Bash","tool_input":"#.to_vec();
        event.extend_from_slice(&bytes);
        event.push(b'}');
        if let Ok(event) = Event::read(&event) {
            prop_assert!(matches!(event.action, Action::Shell(_)));
        }
    }
}
