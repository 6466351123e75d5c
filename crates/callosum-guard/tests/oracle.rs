//! Runs the dangerous commands of the corpus with a real bash in a [world] of stubs.
//!
//! A run proves a row if it makes the call that the guard names, or writes the protected file that
//! the guard names. For unread code, a shell must execute that code. Each row in
//! `corpus/dangerous` is proven this way, except rows with a `why`: their commands cannot run
//! here, so they are judged by reading.

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

/// A dangerous row and the proof that it needs.
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
    /// A program is called with these words. A program that is no stub may write a protected file
    /// instead.
    CallOrWrite(Vec<String>),
    /// `find` removes a path or a file below it.
    Below(String),
    /// A shell executes code that no one has read.
    Executed,
}

/// Value of `why` in rows that are never run.
const ENDLESS: &str = "it does not end, or fills the machine, and is not run";

/// Returns true if a row is never run, because it would fill the machine or hang.
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
            is_unread: matches!(one.proof, Proof::Executed),
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
        "{proven} proven, and these not, which then need a `why`: {unproven:#?}"
    );
    assert!(
        needless.is_empty(),
        "proven, but with a `why`: {needless:#?}"
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
            _ if UNREAD_RULES.contains(&rule) => Proof::Executed,
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
            Proof::Executed => is_called(&words(UNREAD), made),
        }
    }
}

/// Rules about code that no one has read, with any content.
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

/// Returns true if the path that the guard shows is the one that was written.
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

/// Returns true if the documentation says that the guard protects a file of the world.
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

/// Splits a subject, as the guard shows it, into words.
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

/// Returns the dangerous rows by id, each with the proof that it needs.
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

/// CAKE-SHIM-1: each row that is judged by reading is dangerous and has a reason. The need of any
/// other row is a program that the world includes if it exists.
#[test]
fn what_is_judged_by_reading_says_why() {
    let mut wrong = Vec::new();
    for row in rows() {
        let is_stopped = row.expect != Decision::Allow;
        let has_reason = row.why.as_ref().is_none_or(|why| why.len() > 10);
        let needs = row.needs.as_deref();
        let is_known = needs.is_none_or(|program| REAL_WHERE_THERE.contains(&program));
        if !has_reason || !is_known || !is_stopped && (row.is_read() || needs.is_some()) {
            wrong.push(row.id);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The numbers on the page about accuracy match the corpus to within a hundred, so that a few new
/// rows need no edit.
#[test]
fn the_page_has_the_numbers_of_the_corpus() {
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
