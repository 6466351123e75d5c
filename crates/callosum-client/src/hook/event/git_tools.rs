//! Tools that do what `git` does, translated to the equivalent git command.
//!
//! Servers name them for git's own commands (`git_reset`, `git_branch_delete`) and their arguments
//! for git's options (`mode: "hard"`, `force: true`), so the names are enough. Every word of the
//! command stays a word.

use callosum_guard::tool_name::words;

use super::tool_input::Given;

/// Commands of git that may lose work, or are the other sense of one that may.
const COMMANDS: [&str; 20] = [
    "reset",
    "checkout",
    "switch",
    "restore",
    "clean",
    "branch",
    "push",
    "stash",
    "rebase",
    "merge",
    "tag",
    "worktree",
    "remote",
    "reflog",
    "gc",
    "rm",
    "revert",
    "commit",
    "submodule",
    "pull",
];

/// Commands whose first operand says what they do.
const VERBED: [&str; 5] = ["stash", "worktree", "remote", "reflog", "submodule"];

/// Settings that are options of git by the same name.
const OPTIONS: [(&str, &str); 20] = [
    ("force", "--force"),
    ("forcewithlease", "--force-with-lease"),
    ("hard", "--hard"),
    ("soft", "--soft"),
    ("mixed", "--mixed"),
    ("keep", "--keep"),
    ("merge", "--merge"),
    ("dryrun", "--dry-run"),
    ("delete", "--delete"),
    ("all", "--all"),
    ("mirror", "--mirror"),
    ("prune", "--prune"),
    ("staged", "--staged"),
    ("abort", "--abort"),
    ("skip", "--skip"),
    ("quit", "--quit"),
    ("directories", "-d"),
    ("recursive", "-d"),
    ("removedirectories", "-d"),
    ("ignored", "-x"),
];

/// Those among them that a mode may name, or the tool's own name.
const MODES: [&str; 9] = [
    "hard", "soft", "mixed", "keep", "merge", "abort", "skip", "quit", "force",
];

/// Arguments that select one of several operations.
const VERBS: [&str; 8] = [
    "resetmode",
    "mode",
    "action",
    "operation",
    "subcommand",
    "op",
    "resettype",
    "type",
];

/// Arguments that hold the repository.
const REPOSITORIES: [&str; 6] = [
    "repopath",
    "repositorypath",
    "repo",
    "repository",
    "reporoot",
    "projectpath",
];

/// Arguments whose values git takes as operands, in its order.
const OPERANDS: [&str; 18] = [
    "remote",
    "remotename",
    "branches",
    "branch",
    "branchname",
    "tag",
    "tagname",
    "target",
    "commit",
    "commithash",
    "ref",
    "revision",
    "refspec",
    "name",
    "worktreepath",
    "stashref",
    "newbranch",
    "basebranch",
];

/// Arguments that hold files.
const FILES: [&str; 6] = [
    "files",
    "paths",
    "file",
    "pathspec",
    "pathspecs",
    "filepath",
];

/// The command that a tool is, if it is one of git's.
pub(super) fn command(tool: &str, given: Given<'_>) -> Option<Vec<String>> {
    let names = words(tool);
    let at = (0..names.len()).rfind(|at| {
        let next = names.get(at + 1).map(String::as_str);
        names[*at] == "git" && !matches!(next, Some("hub" | "lab" | "ea"))
    })?;
    let own = &names[at + 1..];
    let says = |wanted: &str| own.iter().any(|word| word == wanted);
    let Some(program) = COMMANDS.into_iter().find(|command| says(command)) else {
        return spoken(given);
    };
    let mut command = vec!["git".to_owned()];
    let named = given.text(&REPOSITORIES);
    let is_files = matches!(program, "checkout" | "restore" | "rm");
    let beside = given.text(&["path"]).filter(|_| !is_files);
    // A name with its owner is no folder of this machine.
    if let Some(folder) = named.or(beside).filter(|folder| is_folder(folder)) {
        command.extend(["-C".to_owned(), folder.to_owned()]);
    }
    command.push(program.to_owned());
    let verb = given.text(&VERBS).map(str::to_ascii_lowercase);
    let verb = verb.or_else(|| {
        let beside = own.iter().find(|word| *word != program)?;
        Some(beside.clone())
    });
    let set = given.settings();
    let has = |wanted: &str| set.iter().any(|name| name == wanted) || says(wanted);
    let mut options = Vec::new();
    match verb.as_deref() {
        Some("delete" | "remove") if program == "branch" => {
            options.push(if has("force") { "-D" } else { "-d" });
        }
        Some("delete" | "remove") if program == "tag" => options.push("-d"),
        Some("delete" | "remove") if program == "push" => options.push("--delete"),
        Some(verb) => {
            let mode = OPTIONS.iter().find(|(name, _)| *name == verb);
            options.extend(
                mode.map(|(_, option)| *option)
                    .filter(|_| MODES.contains(&verb)),
            );
        }
        None => {}
    }
    for (name, option) in OPTIONS {
        let is_named = MODES.contains(&name) && name != program && says(name);
        if (set.iter().any(|set| set == name) || is_named) && !options.contains(&option) {
            options.push(option);
        }
    }
    let verb = verb.filter(|_| VERBED.contains(&program));
    command.extend(verb);
    command.extend(options.into_iter().map(str::to_owned));
    command.extend(
        OPERANDS
            .into_iter()
            .flat_map(|name| given.words_under(name)),
    );
    for name in ["args", "arguments", "options", "flags"] {
        command.extend(given.words_under(name));
    }
    let mut files: Vec<String> = FILES
        .into_iter()
        .flat_map(|name| given.words_under(name))
        .collect();
    if is_files {
        files.extend(given.words_under("path"));
    }
    if !files.is_empty() {
        command.push("--".to_owned());
        command.extend(files);
    }
    Some(command)
}

/// A command of git's that is given as such, with or without git's name before it.
fn spoken(given: Given<'_>) -> Option<Vec<String>> {
    let arguments = if let Some(command) = given.command() {
        shlex::split(&command)?
    } else {
        let apart: Vec<String> = ["args", "arguments", "argv"]
            .into_iter()
            .flat_map(|name| given.words_under(name))
            .collect();
        // One text is several words.
        let apart = match &apart[..] {
            [one] => shlex::split(one)?,
            _ => apart,
        };
        [given.words_under("subcommand"), apart].concat()
    };
    let first = arguments.first()?;
    if first == "git" || !COMMANDS.contains(&first.as_str()) && !first.starts_with('-') {
        return None;
    }
    Some([vec!["git".to_owned()], arguments].concat())
}

fn is_folder(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) || !text.contains('/')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn command_of(tool: &str, input: Value) -> Option<String> {
        let input = input.as_object().unwrap().clone();
        command(tool, Given(&input)).map(|words| words.join(" "))
    }

    /// CAKE-SHIM-1: what a tool of a git server is asked is the command of git that does it.
    #[test]
    fn a_tool_of_git_is_the_command_that_it_is_named_for() {
        for (tool, input, expected) in [
            (
                "mcp__git__git_reset",
                json!({"mode": "hard", "target": "HEAD~3", "path": "/home/dev/x"}),
                "git -C /home/dev/x reset --hard HEAD~3",
            ),
            (
                "mcp__git__git_reset",
                json!({"repo_path": "/r"}),
                "git -C /r reset",
            ),
            (
                "mcp__git__git_checkout",
                json!({"repo_path": ".", "branch_name": "main", "force": true}),
                "git -C . checkout --force main",
            ),
            (
                "git_checkout",
                json!({"files": ["a b", "c"]}),
                "git checkout -- a b c",
            ),
            (
                "mcp__git__git_clean",
                json!({"force": true, "directories": true, "ignored": true}),
                "git clean --force -d -x",
            ),
            (
                "mcp__git__git_clean",
                json!({"force": true, "dryRun": true}),
                "git clean --force --dry-run",
            ),
            (
                "mcp__git__git_branch",
                json!({"mode": "delete", "branchName": "x", "force": true, "path": "."}),
                "git -C . branch -D --force x",
            ),
            (
                "mcp__git__git_branch_delete",
                json!({"branch": "x"}),
                "git branch -d x",
            ),
            (
                "mcp__git__git_branch",
                json!({"mode": "list"}),
                "git branch",
            ),
            (
                "mcp__git__git_push",
                json!({"remote": "origin", "branch": "main", "force": true}),
                "git push --force origin main",
            ),
            (
                "mcp__git__git_force_push",
                json!({"branch": "main"}),
                "git push --force main",
            ),
            (
                "mcp__git__git_stash",
                json!({"mode": "clear"}),
                "git stash clear",
            ),
            (
                "mcp__git__git_stash_drop",
                json!({"stashRef": "stash@{0}"}),
                "git stash drop stash@{0}",
            ),
            (
                "mcp__git__git_worktree",
                json!({"operation": "remove", "worktreePath": "../x", "force": true}),
                "git worktree remove --force ../x",
            ),
            (
                "mcp__git__git_rebase",
                json!({"mode": "abort"}),
                "git rebase --abort",
            ),
            (
                "mcp__git__run_git_command",
                json!({"command": "reset", "args": ["--hard"]}),
                "git reset --hard",
            ),
            (
                "mcp__git__git_reset",
                json!({"resetMode": "hard"}),
                "git reset --hard",
            ),
            (
                "mcp__git__git",
                json!({"subcommand": "reset", "args": ["--hard"]}),
                "git reset --hard",
            ),
            (
                "mcp__x__execute_git",
                json!({"args": "reset --hard"}),
                "git reset --hard",
            ),
            (
                "git",
                json!({"args": ["-C", "/x", "clean", "-fdx"]}),
                "git -C /x clean -fdx",
            ),
        ] {
            assert_eq!(command_of(tool, input).as_deref(), Some(expected), "{tool}");
        }
        for (tool, input) in [
            ("mcp__github__delete_branch", json!({"branch": "a"})),
            ("mcp__GitHub__push_files", json!({"branch": "a"})),
            ("mcp__x__reset", json!({"mode": "hard"})),
            ("mcp__git__run", json!({"command": "git status"})),
        ] {
            assert_eq!(command_of(tool, input), None, "{tool}");
        }
    }
}
