//! Comparison of this reader with tree-sitter's grammar of bash: it misses no command that
//! tree-sitter finds. Start at `no_command_is_missed_that_tree_sitter_finds`.
//!
//! If tree-sitter reports no error, each command whose name it reads as a plain word must be among
//! the commands that this reader finds, as often as tree-sitter finds it. The reverse is not
//! required: this reader looks into here-documents and arithmetic, for which the grammar has no
//! commands.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tree_sitter::{Node, Parser};

use super::{
    Budget, read,
    tree::{Assignment, Change, Command, Part, Redirect, Script, Target, Word},
};

/// Reserved words that tree-sitter takes for commands if they are alone, and `time` and `coproc`
/// in any place. This reader reads the command behind them.
const RESERVED: [&str; 9] = [
    "time", "coproc", "then", "elif", "else", "fi", "do", "done", "esac",
];

/// Names of commands, each with its number of occurrences.
type Names = BTreeMap<String, usize>;

/// CAKE-SHIM-1: this reader finds each command that an independent grammar finds.
#[test]
fn no_command_is_missed_that_tree_sitter_finds() {
    let mut missed = Vec::new();
    let mut compared = 0usize;
    let commands = commands();
    for (at, command) in commands.iter().enumerate() {
        let other = &commands[(at * 7 + 1) % commands.len()];
        for text in forms(command, other) {
            let Some(theirs) = theirs(&text) else {
                continue;
            };
            compared += 1;
            let ours = ours(&text);
            for (name, count) in theirs {
                if ours.get(&name).copied().unwrap_or(0) < count {
                    missed.push(format!("{name:?} in {text:?}"));
                }
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
    assert!(
        missed.is_empty(),
        "{} of {compared}: {missed:#?}",
        missed.len()
    );
}

/// Returns a command as it is, in places that confuse grammars, cut, and merged with another.
fn forms(command: &str, other: &str) -> Vec<String> {
    let (front, back) = (halves(command), halves(other));
    vec![
        command.to_owned(),
        format!("if true; then\n{command}\nfi"),
        format!("{{ {command}\n}} 2>&1 | cat"),
        format!("x=$(\n{command}\n)"),
        format!("for a in b; do\n{command}\ndone"),
        format!("true && {command}"),
        format!("{command}\n{other}"),
        front.0.to_owned(),
        front.1.to_owned(),
        format!("{}{}", front.0, back.1),
        format!("{} {}", back.0, front.1),
    ]
}

fn halves(text: &str) -> (&str, &str) {
    let half = (text.len() / 2..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    text.split_at(half)
}

/// Returns the commands of the corpus, in the order of files and lines.
fn commands() -> Vec<String> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files: Vec<PathBuf> = ["dangerous", "harmless"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(corpus.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    let mut all = Vec::new();
    for path in files {
        #[expect(clippy::disallowed_methods, reason = "a test reads its own corpus")]
        let text = std::fs::read_to_string(path).unwrap();
        all.extend(text.lines().map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["command"].as_str().unwrap().to_owned()
        }));
    }
    all
}

/// Returns the names that tree-sitter finds; `None` if it does not understand all of the text.
fn theirs(text: &str) -> Option<Names> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let tree = parser.parse(text, None)?;
    let root = tree.root_node();
    if root.has_error() || text.contains('\0') {
        return None;
    }
    let mut names = Names::new();
    collect(root, text, &mut names);
    Some(names)
}

/// Returns true if tree-sitter takes an option for an assignment: `--pid=host img`.
fn follows_no_assignment(command: Node<'_>, text: &str) -> bool {
    let mut cursor = command.walk();
    let mut children = command.children(&mut cursor);
    children.any(|child| {
        child.kind() == "variable_assignment"
            && child
                .utf8_text(text.as_bytes())
                .is_ok_and(|text| text.starts_with('-'))
    })
}

fn collect(node: Node<'_>, text: &str, names: &mut Names) {
    if node.kind() == "command"
        && let Some(name) = node.child_by_field_name("name")
        && let Some(word) = name
            .named_child(0)
            .filter(|_| name.named_child_count() == 1)
        && word.kind() == "word"
        && !follows_no_assignment(node, text)
        && let Ok(word) = word.utf8_text(text.as_bytes())
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || "-_./".contains(c))
        && !RESERVED.contains(&word)
        && !begins_with_option(node, text)
        // Of a word that goes on with a substitution the grammar takes the beginning alone for the name.
        && !["`", "<(", ">("].iter().any(|begun| text[name.end_byte()..].starts_with(begun))
        // `x/!(keep)` is a pattern, which the grammar takes for a subshell at the beginning.
        && !["!(", "*(", "+(", "?(", "@("]
            .iter()
            .any(|begun| text[..node.start_byte()].ends_with(begun))
    {
        *names.entry(word.to_owned()).or_default() += 1;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, text, names);
    }
}

/// Returns true if the grammar takes `--a=b` for an assignment, which bash takes for a command's name.
fn begins_with_option(node: Node<'_>, text: &str) -> bool {
    node.child(0)
        .is_some_and(|first| first.kind() == "variable_assignment")
        && text[node.byte_range()].starts_with('-')
}

fn ours(text: &str) -> Names {
    let mut budget = Budget { bytes: 1 << 20 };
    let (read, _) = read(text, 0, &mut budget);
    let mut names = Names::new();
    script(&read, &mut names);
    names
}

fn script(read: &Script, names: &mut Names) {
    for one in &read.commands {
        command(one, names);
    }
}

fn command(read: &Command, names: &mut Names) {
    match read {
        Command::Simple(simple) => {
            if let Some(name) = simple.words.first().and_then(Word::literal) {
                *names.entry(name).or_default() += 1;
            }
            words(&simple.words, names);
            assignments(&simple.assignments, names);
            redirects(&simple.redirects, names);
        }
        Command::Pipeline(all) => {
            for one in all {
                command(one, names);
            }
        }
        Command::Group { body, .. } | Command::Chain(body) | Command::Either(body) => {
            script(body, names);
        }
        Command::Parts(parts) | Command::Loop(parts) => {
            for part in parts {
                script(part, names);
            }
        }
        Command::For {
            words: list, body, ..
        } => {
            words(list.as_deref().unwrap_or_default(), names);
            script(body, names);
        }
        Command::Case { subject, arms, .. } => {
            word(subject, names);
            for arm in arms {
                script(arm, names);
            }
        }
        Command::Function { body, .. } => command(body, names),
        Command::Test(list) => words(list, names),
        Command::Redirected {
            command: inner,
            redirects: all,
        } => {
            command(inner, names);
            redirects(all, names);
        }
    }
}

fn assignments(all: &[Assignment], names: &mut Names) {
    for assignment in all {
        word(&assignment.value, names);
        words(assignment.list.as_deref().unwrap_or_default(), names);
    }
}

fn redirects(all: &[Redirect], names: &mut Names) {
    for redirect in all {
        match &redirect.target {
            Target::Word(target) => word(target, names),
            Target::Body(body) => {
                if let Some(body) = body.get() {
                    word(body, names);
                }
            }
        }
    }
}

fn words(all: &[Word], names: &mut Names) {
    for one in all {
        word(one, names);
    }
}

fn word(read: &Word, names: &mut Names) {
    for part in &read.parts {
        match part {
            Part::Text { .. } => {}
            Part::Substitution { script: inner, .. } | Part::Process { script: inner, .. } => {
                script(inner, names);
            }
            Part::Arithmetic(list) => words(list, names),
            Part::Parameter { parameter, .. } => match &parameter.change {
                Change::Default { word: inner, .. } | Change::Alternative(inner) => {
                    word(inner, names);
                }
                Change::Strip { pattern, .. } => word(pattern, names),
                Change::Replace { pattern, with, .. } => {
                    word(pattern, names);
                    word(with, names);
                }
                Change::Slice { offset, length } => {
                    word(offset, names);
                    words(length.as_slice(), names);
                }
                _ => {}
            },
        }
    }
}
