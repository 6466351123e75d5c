//! Whether the database of a framework is one for tests, a file among temporary ones, or in memory.
//!
//! Only the command itself counts as evidence, and of its words and variables those that the
//! program goes by: `NODE_ENV=test` means nothing to prisma, which takes its database from
//! `DATABASE_URL`, and `-source` names no database to migrate. An address counts more than a stage,
//! as in the frameworks, and a word of the command more than a variable: if that word is not known,
//! neither is the database.

use super::{
    Subject,
    deploy::{names_production, parts},
};
use crate::{
    analyze::database_framework::{Framework, SETTINGS, framework_at},
    loopback::is_loopback,
    path_class::PathClass,
};

/// Names of goose for the kinds of databases; the database's address follows.
const KINDS_OF_GOOSE: [&str; 12] = [
    "postgres",
    "pgx",
    "mysql",
    "sqlite3",
    "sqlite",
    "mssql",
    "redshift",
    "tidb",
    "clickhouse",
    "vertica",
    "turso",
    "duckdb",
];

/// Beginnings of addresses of a file, or of a database in memory.
const OF_FILES: [&str; 8] = [
    "sqlite3:",
    "sqlite:",
    "file:",
    "libsql:file:",
    "duckdb:",
    "jdbc:sqlite:",
    "jdbc:h2:file:",
    "jdbc:h2:mem:",
];

/// Whether a command goes to such a database.
pub(super) fn is_on_trial(subject: &Subject<'_>) -> bool {
    let call = subject.call;
    let Some((at, framework)) = framework_at(call) else {
        return false;
    };
    let words: Vec<&str> = call.words[at + 1..]
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    if words.iter().any(|word| is_for_good(word)) {
        return false;
    }
    let is = |name: &str| framework.names.contains(&name);
    let passes = |place: &str| match () {
        () if is("hasura") => is_loopback(place),
        // What is named there is a connection of the settings.
        () if is("artisan") || is("ace") || is("console") => says_test(place),
        () => is_passing(subject, place),
    };
    let mut places = places(framework, &words).into_iter().peekable();
    if places.peek().is_some() {
        return places.all(passes);
    }
    let is_of_django = is("manage.py");
    if let Some(settings) = value(&words, &["--settings"]).filter(|_| is_of_django) {
        return says_test(settings);
    }
    let variable = |name: &&str| {
        let mut kept = call.environment.iter();
        kept.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    // `rake RAILS_ENV=test db:drop`
    let assigned = |names: &[&str]| {
        let mut assigned = words.iter().filter_map(|word| word.split_once('='));
        assigned.find_map(|(name, value)| names.contains(&name).then_some(value))
    };
    let address = assigned(framework.addresses);
    let kept = framework.addresses.iter().filter_map(variable);
    let kept = kept.filter(|_| address.is_none());
    let mut addresses = address.into_iter().chain(kept).peekable();
    if addresses.peek().is_some() {
        let is_of_hasura = is("hasura");
        return addresses.all(|address| {
            is_of_hasura && is_loopback(address) || !is_of_hasura && is_passing(subject, address)
        });
    }
    let settings = variable(&SETTINGS).filter(|_| framework.stages.is_empty());
    if let Some(settings) = settings {
        return says_test(crate::path::name(settings));
    }
    let stage = match assigned(framework.stages) {
        Some(stage) => Some(stage),
        None if framework.stages.is_empty() => None,
        None => value(&words, &["--env", "--environment", "-e"])
            .or_else(|| framework.stages.iter().find_map(variable)),
    };
    stage.is_some_and(|stage| {
        matches!(stage, "test" | "testing") || is_of_django && says_test(stage)
    })
}

/// Lists the database addresses among a framework's words.
fn places<'w>(framework: &Framework, words: &[&'w str]) -> Vec<&'w str> {
    let given = values(words, framework.options);
    if framework.names.contains(&"goose") {
        let kind = words.iter().position(|word| KINDS_OF_GOOSE.contains(word));
        let place = kind.and_then(|at| words.get(at + 1).copied());
        return place.into_iter().collect();
    }
    if framework.names.contains(&"alembic") {
        // `-x url=sqlite:///tmp/t.db`; other values of the option are no addresses.
        let given = given.map(|given| given.split_once('=').map_or(given, |(_, value)| value));
        let is_place = |given: &&str| is_address(given) || !crate::analyze::value::is_known(given);
        return given.filter(is_place).collect();
    }
    given.collect()
}

/// Returns the value of one of these options.
fn value<'w>(words: &[&'w str], options: &'static [&'static str]) -> Option<&'w str> {
    values(words, options).next()
}

/// Lists the values of these options: in the next word, behind `=`, or joined to a letter.
pub(super) fn values<'w>(
    words: &[&'w str],
    options: &'static [&'static str],
) -> impl Iterator<Item = &'w str> {
    words.iter().enumerate().filter_map(move |(at, word)| {
        options.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if rest.is_empty() => words.get(at + 1).copied(),
                None => (option.len() == 2).then_some(rest),
            }
        })
    })
}

fn is_address(word: &str) -> bool {
    OF_FILES.iter().any(|start| word.starts_with(start))
        || word
            .split_once("://")
            .is_some_and(|(scheme, _)| !scheme.is_empty() && !scheme.contains([' ', '/']))
}

/// Whether a text names what is kept for good.
fn is_for_good(text: &str) -> bool {
    names_production(text) || parts(text).any(|part| part == "live")
}

/// Whether a database is disposable, by its address, its path, or its name.
fn is_passing(subject: &Subject<'_>, address: &str) -> bool {
    if is_for_good(address) {
        return false;
    }
    // `user=shop dbname=shop_test sslmode=disable`
    let named = address
        .split(' ')
        .find_map(|part| part.strip_prefix("dbname="));
    if let Some(name) = named {
        return says_test(name);
    }
    let file = OF_FILES
        .iter()
        .find_map(|start| address.strip_prefix(start));
    let file = file.or_else(|| (!is_address(address)).then_some(address));
    if let Some(file) = file {
        let in_memory = address.contains(":memory:")
            || address.contains("mode=memory")
            || address.starts_with("jdbc:h2:mem:");
        let path = file.strip_prefix("//").unwrap_or(file);
        let path = path.split('?').next().unwrap_or(path);
        let is_known = crate::analyze::value::is_known(path) && !path.is_empty();
        return in_memory
            || is_known
                && (subject.place(path) == PathClass::Free || path.split('/').any(says_test));
    }
    let (_, rest) = address.split_once("://").unwrap_or(("", address));
    let (_, name) = rest.split_once('/').unwrap_or((rest, ""));
    let name = name.split('?').next().unwrap_or(name);
    !name.contains('/') && says_test(name)
}

/// Whether a name is one for tests: `shop_test`, `app.settings.test`, `tmp.db`, but neither
/// `latest` nor one for work (`shop_dev`).
fn says_test(name: &str) -> bool {
    const SAYS: [&str; 8] = [
        "test", "tests", "testing", "tmp", "temp", "ci", "e2e", "scratch",
    ];
    if is_for_good(name) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(['_', '-', '.']);
    parts.any(|part| SAYS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit())))
}
