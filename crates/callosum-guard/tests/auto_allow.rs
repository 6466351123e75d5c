//! Auto-allow over a corpus of what agents run, over lines that must be refused, and laws.
//!
//! A row of `corpus/auto-allow/ordinary.jsonl` is `{"id", "command", "expect"}`, where `prompt` means that the client
//! prompts as usual; all presets are on the list. No row of `adversarial.jsonl` is ever allowed.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

mod project;

use std::path::Path;

use callosum_guard::{
    Permission, Policy, Strictness,
    auto_allow::{AllowRefusal, auto_allow, may_be_listed},
};
use proptest::{prelude::Strategy, prop_assert, proptest, sample};
use serde::Deserialize;

use crate::project::{Project, facts, presets};

#[derive(Clone, Debug, Deserialize)]
struct Row {
    id: String,
    command: String,
    #[serde(default)]
    expect: String,
}

fn rows(name: &str) -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/auto-allow");
    #[expect(clippy::disallowed_methods, reason = "a test reads its own corpus")]
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn decided(command: &str) -> Result<(), AllowRefusal> {
    decided_with(command, &presets(), &Project::new())
}

fn decided_with(
    command: &str,
    listed: &[Permission],
    project: &Project,
) -> Result<(), AllowRefusal> {
    auto_allow(command, &facts(), &Policy::default(), listed, project)
}

fn patterns(patterns: &[&str]) -> Vec<Permission> {
    let parsed = patterns
        .iter()
        .map(|pattern| Permission::parse(pattern).unwrap());
    parsed.collect()
}

/// Of 400 lines that agents run every day, at least 60 % need no prompt.
#[test]
fn most_ordinary_lines_are_allowed() {
    let rows = rows("ordinary.jsonl");
    let mut wrong = Vec::new();
    let mut allowed = 0;
    for row in &rows {
        let decided = decided(&row.command);
        allowed += usize::from(decided.is_ok());
        if decided.is_ok() != (row.expect == "allow") {
            wrong.push(format!("{} {:?}: {decided:?}", row.id, row.command));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(rows.len(), 400);
    assert!(allowed * 100 >= rows.len() * 60, "{allowed}");
}

/// No line that writes, runs, sends or shows what it should not is allowed, however it is written.
#[test]
fn no_adversarial_line_is_allowed() {
    let rows = rows("adversarial.jsonl");
    assert!(rows.len() >= 200, "{}", rows.len());
    let allowed = rows.iter().filter(|row| decided(&row.command).is_ok());
    let allowed: Vec<&str> = allowed.map(|row| row.command.as_str()).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

/// Without a list the built-in programs are allowed, and no other.
#[test]
fn an_empty_list_leaves_the_programs_that_only_read() {
    for line in [
        "git status && ls -la",
        "grep -rn x src | head",
        "cat README.md > copy.txt",
    ] {
        assert_eq!(decided_with(line, &[], &Project::new()), Ok(()), "{line}");
    }
    for line in ["cargo test", "npm test", "ls && cargo test"] {
        assert!(decided_with(line, &[], &Project::new()).is_err(), "{line}");
    }
}

/// Commands that the guard asks about or blocks stay so, with anything on the list.
#[test]
fn the_list_lifts_no_verdict_of_the_guard() {
    let listed = patterns(&["git *", "rm *", "terraform *", "npm *"]);
    assert_eq!(decided_with("git fetch", &listed, &Project::new()), Ok(()));
    for line in [
        "git reset --hard",
        "git push --force",
        "rm -rf /",
        "terraform destroy",
        "npm publish",
        "git fetch && git clean -fdx",
    ] {
        let decided = decided_with(line, &listed, &Project::new());
        assert_eq!(decided, Err(AllowRefusal::Verdict), "{line}");
    }
    let strict = Policy {
        confirm: true,
        strictness: Strictness::Paranoid,
        ..Policy::default()
    };
    let decided = auto_allow("ls", &facts(), &strict, &listed, &Project::new());
    assert_eq!(decided, Err(AllowRefusal::Verdict));
}

/// A program that runs its own words cannot be listed, and a pattern that slipped into a list is passed over.
#[test]
fn a_program_that_runs_its_words_cannot_be_listed() {
    for pattern in [
        "bash *",
        "sh -c *",
        "env *",
        "xargs *",
        "sudo *",
        "ssh *",
        "docker *",
        "/usr/bin/env *",
        "cd *",
        "find *",
    ] {
        let pattern = patterns(&[pattern]);
        assert!(!may_be_listed(&pattern[0]), "{pattern:?}");
        for line in [
            "bash -c ls",
            "env ls",
            "ls | xargs ls",
            "sudo ls",
            "find . -delete",
            "cd /",
        ] {
            assert!(
                decided_with(line, &pattern, &Project::new()).is_err(),
                "{line}"
            );
        }
    }
    let script = patterns(&["bash scripts/test.sh"]);
    assert!(may_be_listed(&script[0]));
    assert_eq!(
        decided_with("bash scripts/test.sh", &script, &Project::new()),
        Ok(())
    );
    assert!(decided_with("bash scripts/test.sh x", &script, &Project::new()).is_err());
}

/// A listed interpreter takes no code from a pipe or a here-document.
#[test]
fn a_listed_interpreter_is_fed_nothing() {
    let listed = patterns(&["python3 *", "python3", "node *", "psql *"]);
    assert_eq!(
        decided_with("python3 scripts/x.py", &listed, &Project::new()),
        Ok(())
    );
    for line in [
        "cat a.txt | python3",
        "python3 < a.txt",
        "python3 - <<'EOF'\nprint(1)\nEOF",
        "node <<< 1",
        "cat a.txt | psql x",
    ] {
        assert!(
            decided_with(line, &listed, &Project::new()).is_err(),
            "{line}"
        );
    }
}

/// Settings and hooks of the repository that run programs leave git to the client's prompt.
#[test]
fn a_repository_that_runs_programs_is_left_to_the_prompt() {
    let evil = "[core]\n\tfsmonitor = ./x\n";
    for project in [
        Project::new().with(".git/config", evil),
        Project::new().with(".git/config", "[filter \"x\"]\n\tclean = ./x\n"),
        Project::new().with(".git/hooks/post-index-change", "#!/bin/sh\n"),
        Project::new()
            .with(".git/config", "[core]\n\thooksPath = .husky\n")
            .with(".husky/post-index-change", "x"),
    ] {
        assert!(decided_with("git status", &[], &project).is_err());
        assert_eq!(decided_with("ls", &[], &project), Ok(()));
    }
    let husky = Project::new().with(".git/config", "[core]\n\thooksPath = .husky\n");
    assert_eq!(decided_with("git status", &[], &husky), Ok(()));
}

/// In the home folder, above it, or without a project nothing is allowed.
#[test]
fn nothing_is_allowed_outside_of_a_project() {
    for root in [None, Some("/home/u"), Some("/home"), Some("/")] {
        let facts = callosum_guard::Facts {
            root: root.map(str::to_owned),
            ..facts()
        };
        let decided = auto_allow("ls", &facts, &Policy::default(), &[], &Project::new());
        assert_eq!(decided, Err(AllowRefusal::NoProject), "{root:?}");
    }
    let outside = callosum_guard::Facts {
        cwd: Some("/etc".to_owned()),
        ..facts()
    };
    for line in ["ls", "cargo test", "git status"] {
        let decided = auto_allow(
            line,
            &outside,
            &Policy::default(),
            &presets(),
            &Project::new(),
        );
        assert!(decided.is_err(), "{line}");
    }
}

fn allowed() -> impl Strategy<Value = String> {
    let rows = rows("ordinary.jsonl").into_iter();
    let rows = rows.filter(|row| row.expect == "allow");
    sample::select(rows.map(|row| row.command).collect::<Vec<_>>())
}

/// Commands that are not covered, each of one line and without a sign of the shell's.
fn uncovered() -> impl Strategy<Value = &'static str> {
    sample::select(vec![
        "rm notes.txt",
        "curl http://x.io",
        "make deploy",
        "npm install x",
        "python3 x.py",
        "cat .env",
        "cat /etc/passwd",
        "git push",
        "git -c core.pager=x log",
        "sed -i s/a/b/ src/lib.rs",
        "tee Makefile",
        "find . -delete",
        "kill 1",
        "ssh host ls",
        "./x",
        "chmod 777 a.txt",
        "sort -o Makefile a.txt",
    ])
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

/// Ways to add a second command to one: `@` is the line, `%` the command that is not covered.
const PLACES: [&str; 24] = [
    "@; %",
    "% ; @",
    "@ && %",
    "% && @",
    "@ || %",
    "% || @",
    "@ | %",
    "% | @",
    "@\n%",
    "%\n@",
    "@ & %",
    "% & @",
    "@ |& %",
    "! %; @",
    "time %; @",
    "@; if true; then %; fi",
    "@; for x in 1; do %; done",
    "@; { %; }",
    "@; (%)",
    "@; f() { %; }; f",
    "echo \"$(%)\"; @",
    "echo `%`; @",
    "@; cat <(%)",
    "CI=1 %; @",
];

/// Ways to wrap a command: `%` is the command, `%q` the same as one quoted word.
const WRAPPERS: [&str; 22] = [
    "bash -c %q",
    "sh -c %q",
    "eval %q",
    "eval %",
    "env %",
    "env X=1 %",
    "xargs % < a.txt",
    "ls | xargs %",
    "nohup %",
    "timeout 5 %",
    "sudo %",
    "command %",
    "exec %",
    "ls \"$(%)\"",
    "cat $(%)",
    "CI=$(%) ls",
    "ls > $(%)",
    "cat <<EOF\n$(%)\nEOF",
    "bash <<'EOF'\n%\nEOF",
    "echo %q | sh",
    "trap %q EXIT",
    "find . -exec % ;",
];

proptest! {
    /// A command that is not covered is never allowed, wherever it is in a line of commands that are.
    #[test]
    fn an_uncovered_command_is_allowed_nowhere(
        line in allowed(),
        other in uncovered(),
        place in sample::select(PLACES.to_vec()),
    ) {
        let line = place.replace('@', &line).replace('%', other);
        prop_assert!(decided(&line).is_err(), "{}", line);
    }

    /// No wrapper has a command allowed that is not covered.
    #[test]
    fn a_wrapper_has_no_uncovered_command_allowed(
        other in uncovered(),
        wrapper in sample::select(WRAPPERS.to_vec()),
        before in allowed(),
    ) {
        let line = wrapper.replace("%q", &quoted(other)).replace('%', other);
        prop_assert!(decided(&line).is_err(), "{}", line);
        let line = format!("{before}\n{line}");
        prop_assert!(decided(&line).is_err(), "{}", line);
    }

    /// A word more that is no plain text is never allowed.
    #[test]
    fn an_expansion_is_never_allowed(
        line in allowed(),
        word in sample::select(vec!["$X", "\"$X\"", "${X}", "$(id)", "`id`", "<(id)", "{a,b}", "~/x", "$((X))", "=ls"]),
    ) {
        let line = format!("{line}; cat {word}");
        prop_assert!(decided(&line).is_err(), "{}", line);
    }

    /// No text makes it fail, and what it allows the guard allows too.
    #[test]
    fn no_text_is_allowed_that_the_guard_stops(text in "[ a-z./~*$'\"|&;<>(){}=\\\\\n-]{0,60}") {
        if decided(&text).is_ok() {
            let verdict = callosum_guard::decide(&text, &facts(), &Policy::default());
            prop_assert!(verdict.decision == callosum_guard::Decision::Allow, "{}", text);
        }
    }
}
