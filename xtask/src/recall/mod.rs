//! `cargo xtask recall`: how often a past session that a person looks for is among the first five.
//!
//! The questions and their labels are in `crates/callosum-memory/tests/recall`, whose README says how they were written. Each is
//! asked by words, by meaning, by both, and of ripgrep. Not here: a verdict; the numbers go to `docs/performance/memory.md`
//! by hand.

#![expect(
    clippy::disallowed_methods,
    reason = "a chore lays out its files and starts its programs with what the standard library has"
)]

mod generate;
mod opencode;
mod ripgrep;
mod speed;

pub(crate) use self::speed::speed;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use callosum_host::Disk;
use callosum_memory::{Client, ClientFolder, Memory, MemoryScope, RankBy, SessionSearch};
use callosum_search::{Model, Query};
use serde::Deserialize;

use crate::{
    command_of_the_developer,
    release_build::{concluded, target},
    repository::fetch_model,
    say,
};

/// Sessions of an answer that are looked at.
const FIRST: usize = 5;

/// The set, from the root of the repository.
const SET: &str = "crates/callosum-memory/tests/recall";

/// A question of the set.
#[derive(Debug, Deserialize)]
struct Question {
    id: u64,
    #[serde(rename = "question")]
    text: String,
    sessions: Vec<String>,
    kind: String,
}

/// Questions that were found, of all, for each kind.
type Found = BTreeMap<String, (usize, usize)>;

/// Asks all questions by each method, and prints a table.
pub(crate) fn recall() -> ExitCode {
    concluded(report())
}

fn report() -> Result<(), String> {
    let folder = target()?.join("recall");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let home = copy_home(&folder)?;
    let questions =
        fs::read(Path::new(SET).join("questions.json")).map_err(|error| error.to_string())?;
    let questions: Vec<Question> =
        serde_json::from_slice(&questions).map_err(|error| error.to_string())?;
    let model = folder.join("model");
    if let Err(fault) = fetch_model(&model) {
        say(&format!("without a model: {fault}"));
    }
    let disk = Disk::real();
    let model = Model::open(&disk, &model).map_err(|error| error.to_string())?;
    let has_model = model.is_some();
    let memory =
        Memory::open(&disk, &folder.join("turns.db")).and_then(|memory| memory.with_model(model));
    let mut memory = memory.map_err(|error| error.to_string())?;
    let update = memory.update(&disk, &scope(&home), &mut |_| true);
    let update = update.map_err(|error| error.to_string())?;
    let sizes = memory.sizes().map_err(|error| error.to_string())?;
    say(&format!(
        "{} turns in {} sessions, {} files unreadable",
        update.added, sizes.sessions, update.unreadable
    ));
    let ask = |by: RankBy| {
        let memory = &memory;
        move |question: &str| {
            let search = SessionSearch {
                question: Query::read(question),
                folders: None,
                since: None,
                origin: None,
                by,
                limit: FIRST,
            };
            let hits = memory.search(&search).map_err(|error| error.to_string())?;
            Ok(hits.into_iter().map(|hit| hit.session).collect())
        }
    };
    let mut table = vec![("words", measure(&questions, &ask(RankBy::Words))?)];
    if has_model {
        table.push(("meaning", measure(&questions, &ask(RankBy::Meaning))?));
        table.push(("both", measure(&questions, &ask(RankBy::All))?));
    }
    match ripgrep::Sessions::read(&home) {
        Ok(sessions) => table.push((
            "rg",
            measure(&questions, &|question| sessions.ask(question))?,
        )),
        Err(fault) => say(&format!("without rg: {fault}")),
    }
    print(&table);
    Ok(())
}

/// Returns the clients' folders in a home.
fn scope(home: &Path) -> MemoryScope {
    let places = [
        (Client::ClaudeCode, ".claude"),
        (Client::Codex, ".codex"),
        (Client::Gemini, ".gemini"),
        (Client::Qwen, ".qwen"),
        (Client::Opencode, ".local/share/opencode"),
    ];
    let folder = |(client, path)| ClientFolder {
        client,
        path: home.join(path),
    };
    MemoryScope {
        folders: places.map(folder).to_vec(),
        ..MemoryScope::default()
    }
}

/// Copies the sessions of the set into a home, with the database of opencode.
fn copy_home(folder: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let home = folder.join("home");
    let mut copy = command_of_the_developer("cp");
    copy.arg("-a")
        .arg(Path::new(SET).join("sessions"))
        .arg(&home);
    let copied = copy.status().map_err(|error| error.to_string())?;
    if !copied.success() {
        return Err("cannot copy the sessions".to_owned());
    }
    let opencode = home.join(".local/share/opencode");
    let sql =
        fs::read_to_string(opencode.join("opencode.sql")).map_err(|error| error.to_string())?;
    let database = rusqlite::Connection::open(opencode.join("opencode.db"));
    let made = database.and_then(|database| database.execute_batch(&sql));
    made.map_err(|error| error.to_string())?;
    Ok(home)
}

fn measure(
    questions: &[Question],
    ask: &dyn Fn(&str) -> Result<Vec<String>, String>,
) -> Result<(Found, BTreeSet<u64>), String> {
    let mut found = Found::new();
    let mut missed = BTreeSet::new();
    for question in questions {
        let sessions = ask(&question.text)?;
        let is_found = sessions
            .iter()
            .take(FIRST)
            .any(|session| question.sessions.contains(session));
        let (right, all) = found.entry(question.kind.clone()).or_default();
        *all += 1;
        *right += usize::from(is_found);
        if !is_found {
            missed.insert(question.id);
        }
    }
    Ok((found, missed))
}

fn print(table: &[(&str, (Found, BTreeSet<u64>))]) {
    let Some((_, (first, _))) = table.first() else {
        return;
    };
    let kinds: Vec<&String> = first.keys().collect();
    let heads: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{kind} ({})", first[*kind].1))
        .collect();
    say(&format!("| recall@{FIRST} | all | {} |", heads.join(" | ")));
    say(&format!("|---|---|{}", "---|".repeat(kinds.len())));
    for (method, (found, _)) in table {
        let all: usize = found.values().map(|(right, _)| right).sum();
        let of: usize = found.values().map(|(_, all)| all).sum();
        let each: Vec<String> = kinds
            .iter()
            .map(|kind| found[*kind].0.to_string())
            .collect();
        say(&format!(
            "| {method} | {all} of {of} | {} |",
            each.join(" | ")
        ));
    }
    for (method, (_, missed)) in table {
        let missed: Vec<String> = missed.iter().map(u64::to_string).collect();
        say(&format!("not found by {method}: {}", missed.join(" ")));
    }
}
