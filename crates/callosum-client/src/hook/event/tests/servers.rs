//! Tools of other servers, which are read by what they are given.

use super::*;

/// CAKE-SHIM-1: a call of another server's tool is decided on by its arguments, under any names.
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
            "sqlite3 database.sqlite 'SELECT 1'",
        ),
        (
            "mcp__ide__executeCode",
            json!({"code": "print(1)"}),
            "python3 -c 'print(1)'",
        ),
        (
            "mcp__ide__executeCode",
            json!({"code": "x = 1\n!git reset --hard"}),
            "python3 -c 'x = 1'\ngit reset --hard",
        ),
        (
            "mcp__jupyter__execute_code",
            json!({"code": "%%bash\nrm -rf /"}),
            "rm -rf /",
        ),
        (
            "mcp__x__run",
            json!({"argv": ["rm", "-rf", "/a b"]}),
            "rm -rf '/a b'",
        ),
        (
            "mcp__x__run",
            json!({"program": "rm", "args": ["-rf", "/"]}),
            "rm -rf /",
        ),
        (
            "mcp__x__spawn",
            json!({"file": "rm", "args": ["-rf", "/"]}),
            "rm -rf /",
        ),
        (
            "mcp__pg__run_sql_transaction",
            json!({"sqlStatements": ["DROP TABLE a", "SELECT 1"]}),
            "psql -c 'DROP TABLE a;\nSELECT 1'",
        ),
        (
            "mcp__cassandra__query",
            json!({"query": "DROP TABLE a"}),
            "cqlsh -e 'DROP TABLE a'",
        ),
        (
            "mcp__mongodb__delete-many",
            json!({"collection": "a", "filter": {"x": 1}}),
            "mongosh --eval 'db.x.deleteMany({\"x\":1})'",
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
        (
            "mcp__x__extract_archive",
            json!({"path": "/x/a.zip", "destination": "/etc"}),
            "unzip -o /x/a.zip -d /etc",
        ),
        (
            "mcp__neo4j__write-cypher",
            json!({"query": "MATCH (n) DETACH DELETE n"}),
            "cypher-shell 'MATCH (n) DETACH DELETE n'",
        ),
        (
            "mcp__pg__pg_execute_mutation",
            json!({"operation": "delete", "table": "users", "where": "1=1"}),
            "psql -c 'DELETE FROM users WHERE 1=1'",
        ),
        (
            "mcp__heroku__pg_psql",
            json!({"app": "shop", "command": "DROP TABLE users"}),
            "psql -c 'DROP TABLE users'",
        ),
        (
            "mcp__fs__create_symlink",
            json!({"target": "../a", "path": "b"}),
            "ln -s -- ../a b",
        ),
        (
            "mcp__desktop__interact_with_process",
            json!({"pid": 1, "input": "import os"}),
            "python3 -c 'import os'",
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
            "mcp__x__write_files",
            json!({"files": {".git/config": "y"}}),
            &[".git/config"],
        ),
        (
            "mcp__jetbrains__create_new_file",
            json!({"pathInProject": ".calrc"}),
            &[".calrc"],
        ),
        (
            "mcp__editor__tool",
            json!({"command": "create", "path": ".calrc"}),
            &[".calrc"],
        ),
        (
            "mcp__x__download",
            json!({"url": "https://x.io/a", "save_path": ".calrc"}),
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
        ("mcp__x__explain_command", json!({"command": "rm -rf /"})),
        ("mcp__x__shellcheck", json!({"script": "rm -rf /"})),
        ("mcp__pg__validate", json!({"sql": "DROP TABLE a"})),
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
fn operations_on_paths_become_equivalent_commands() {
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

/// CAKE-SHIM-1: the operation is found at any depth of a tool's arguments.
#[test]
fn nested_objects_are_read_as_well() {
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
        ("mcp__github__list_branches", json!({"branch": "a"})),
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
