//! The dangerous commands of the corpus, run by a real bash in a [world] of stubs.
//!
//! A row is proven if the call that the guard names was really made, or if the protected file that
//! it names was written; a row about unread code, if a shell obeyed that code. Rows in `corpus`
//! itself are proven, if they are to be stopped at all; rows that are judged by reading alone are
//! in `corpus/read`, each with its reason.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what a test cannot unwrap has failed; the world is laid out and entered with the standard library"
)]

mod rows;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use callosum_guard::{Decision, Policy, decide};

use crate::{
    rows::{Row, facts, rows},
    world::{Made, REAL_WHERE_THERE, Run, UNREAD, installed, made_by},
};

/// A row that is to be stopped, and what would prove it.
struct Wanted {
    row: Row,
    proof: Proof,
    is_run: bool,
}

enum Proof {
    /// A program is called with these words.
    Call(Vec<String>),
    /// A protected file is written.
    Write(String),
    /// A program is called with these words, or, as a program that is there as it is, writes a protected file.
    CallOrWrite(Vec<String>),
    /// `find` has a file removed below a path, or the path itself.
    Below(String),
    /// A shell obeys code that no one has read.
    Obeyed,
}

/// The reason of rows that are never run.
const ENDLESS: &str = "it does not end, or fills the machine, and is not run";

/// Whether a row is never run, world or not: it would fill the machine, or only hang.
fn is_without_end(row: &Row, rule: &str) -> bool {
    rule == "shell.fork-bomb" || row.why.as_deref() == Some(ENDLESS)
}

/// CAKE-SHIM-1: the commands that the guard finds are those that a real bash runs.
#[test]
fn dangerous_commands_do_what_the_guard_says() {
    let wanted = wanted();
    let mut stubs: BTreeSet<String> = BTreeSet::new();
    for one in wanted.values() {
        if let Proof::Call(words) | Proof::CallOrWrite(words) = &one.proof {
            stubs.insert(words[0].rsplit('/').next().unwrap_or_default().to_owned());
        }
    }
    stubs.insert("rm".to_owned());
    let runs: Vec<Run<'_>> = wanted
        .iter()
        .filter(|(_, one)| one.is_run)
        .map(|(id, one)| Run {
            id,
            command: &one.row.command,
            is_unread: matches!(one.proof, Proof::Obeyed),
        })
        .collect();
    let Some(made) = made_by(&runs, &stubs) else {
        eprintln!("no namespaces here: nothing was run, and nothing is proven");
        return;
    };
    let nothing = Made::default();
    let (mut proven, mut unproven, mut needless) = (0usize, Vec::new(), Vec::new());
    for (id, one) in &wanted {
        let is_proven = one.proof.is_given_by(made.get(id).unwrap_or(&nothing));
        let can_be = |program: &String| installed(program).is_some();
        match (is_proven, one.row.is_read()) {
            (true, true) => needless.push(id),
            (true, false) => proven += 1,
            (false, false) if one.row.needs.as_ref().is_none_or(can_be) => unproven.push(id),
            (false, _) => {}
        }
    }
    assert!(
        unproven.is_empty(),
        "{proven} proven, and these not, which then belong into `corpus/read`: {unproven:#?}"
    );
    assert!(
        needless.is_empty(),
        "proven, and in `corpus/read`: {needless:#?}"
    );
    assert!(proven >= 600, "{proven}");
}

impl Proof {
    /// Returns the proof that a row needs, by the guard's verdict on it.
    fn needed(command: &str, rule: &str, subject: &str) -> Proof {
        let found = subject.strip_prefix("rm ");
        if let Some(found) = found.filter(|_| command.contains(" -delete")) {
            let path = found.rsplit(' ').next().unwrap_or_default();
            return Proof::Below(path.trim_end_matches(['…', '*', '/']).to_owned());
        }
        let is_of_file = rule.starts_with("protect.");
        match subject.strip_prefix("> ") {
            _ if UNREAD_RULES.contains(&rule) => Proof::Obeyed,
            Some(path) => Proof::Write(path.to_owned()),
            None if is_of_file => Proof::CallOrWrite(words(subject)),
            None => Proof::Call(words(subject)),
        }
    }

    fn is_given_by(&self, made: &Made) -> bool {
        match self {
            Proof::Call(words) => is_called(words, made),
            Proof::Write(path) => made.written.iter().any(|written| leads_to(path, written)),
            Proof::CallOrWrite(words) => {
                is_called(words, made) || made.written.iter().any(|path| is_protected(path))
            }
            Proof::Below(path) => made.calls.iter().any(|call| {
                let mut removed = call.iter().skip(1);
                call[0] == "rm"
                    && removed.any(|word| {
                        let below = word.strip_prefix(path.as_str());
                        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
                    })
            }),
            Proof::Obeyed => is_called(&words(UNREAD), made),
        }
    }
}

/// The rules about code that no one has read, of any content.
const UNREAD_RULES: [&str; 5] = [
    "shell.unknown-script",
    "shell.remote-script",
    "shell.decoded-script",
    "shell.loaded-code",
    "shell.unknown-command",
];

fn is_called(words: &[String], made: &Made) -> bool {
    let plain = |word: &&String| !word.contains(['*', '?', '[', '~', '…', '\n', '{']);
    let name = words[0].rsplit('/').next().unwrap();
    made.calls.iter().any(|call| {
        call[0] == name
            && words[1..]
                .iter()
                .filter(plain)
                .all(|word| call.contains(word))
    })
}

/// Whether a path as the guard shows it is the one that was written.
fn leads_to(path: &str, written: &str) -> bool {
    let path = match path.strip_prefix("~/") {
        Some(path) => format!("/home/u/{path}"),
        None => path.to_owned(),
    };
    let path = path.trim_start_matches("./").trim_end_matches('*');
    written == path || written.ends_with(&format!("/{path}")) || {
        path.starts_with('/') && written.starts_with(path) && written != "/home/u/p"
    }
}

/// Whether a file of the world may not be written without a question, as the page documents it.
fn is_protected(path: &str) -> bool {
    let Some(inner) = path.strip_prefix("/home/u/p/") else {
        return !path.starts_with("/tmp") && path != "/home/u/p";
    };
    let first = inner.split('/').next().unwrap();
    let of_client = [
        ".claude",
        ".codex",
        ".gemini",
        ".qwen",
        ".cursor",
        ".opencode",
    ];
    first.starts_with(".cal")
        || matches!(
            first,
            "registry.json" | "cake_config.yaml" | "cal_audit" | ".git"
        )
        || of_client.contains(&first)
}

/// The words of a subject as the guard shows it.
fn words(subject: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    let mut letters = subject.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => quoted = !quoted,
            '\\' if !quoted => words.last_mut().unwrap().extend(letters.next()),
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}

/// The rows that are to be stopped, with what would prove them.
fn wanted() -> BTreeMap<String, Wanted> {
    let policy = Policy::default();
    let mut wanted = BTreeMap::new();
    for row in rows() {
        if row.expect == Decision::Allow {
            continue;
        }
        let verdict = decide(&row.command, &facts(), &policy);
        let rule = verdict.rule.unwrap_or_default();
        let one = Wanted {
            proof: Proof::needed(&row.command, &rule, &verdict.subject.unwrap_or_default()),
            is_run: !is_without_end(&row, &rule),
            row,
        };
        wanted.insert(one.row.id.clone(), one);
    }
    wanted
}

/// CAKE-SHIM-1: rows that are judged by reading are all to be stopped, and each has a reason that
/// it is not proven; the need of another row is a program that the world includes if it exists.
#[test]
fn what_is_judged_by_reading_says_why() {
    let mut wrong = Vec::new();
    for row in rows() {
        let is_stopped = row.expect != Decision::Allow;
        let is_told = row.why.as_ref().is_none_or(|why| why.len() > 10);
        let needs = row.needs.as_deref();
        let is_known = needs.is_none_or(|program| REAL_WHERE_THERE.contains(&program));
        if !is_told || !is_known || !is_stopped && (row.is_read() || needs.is_some()) {
            wrong.push(row.id);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The numbers of the page about the corpus are counted from its files, to a hundred, so that a few
/// rows more change nothing.
#[test]
fn the_page_tells_how_many_rows_are_proven() {
    let rows = rows();
    let stopped: Vec<&Row> = rows
        .iter()
        .filter(|row| row.expect != Decision::Allow)
        .collect();
    let count = |holds: fn(&Row) -> bool| stopped.iter().filter(|row| holds(row)).count();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guard/accuracy.md");
    let page = fs::read_to_string(page).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wrong = Vec::new();
    for (phrase, counted) in [
        (" commands that are harmless", rows.len() - stopped.len()),
        (" that are to be stopped", stopped.len()),
        (" are proven", count(|row| !row.is_read())),
        (" of these only where", count(|row| row.needs.is_some())),
        (" are judged by reading", count(Row::is_read)),
    ] {
        let front = page.split(phrase).next().unwrap();
        let printed = front.rsplit(' ').next().unwrap().replace(',', "");
        let printed: usize = printed.parse().unwrap_or_default();
        if printed.abs_diff(counted) > 100 {
            wrong.push(format!("{printed}{phrase}: {counted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
