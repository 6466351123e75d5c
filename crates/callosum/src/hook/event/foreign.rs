//! What a tool of another server would do, as far as the names of what it is given tell.
//!
//! Nobody says what such a tool does with what it takes. What is called a command is taken for one,
//! a statement for a database for one of its client's, code for a one-liner of its language; and a
//! path for one that is written where the tool's name says that it changes something.

use serde_json::{Map, Value};

use super::{Action, commands_in, paths_in, text_in};

/// Words in the name of a tool that say that it changes files.
const CHANGES: [&str; 15] = [
    "write", "edit", "create", "delete", "remove", "move", "rename", "replace", "patch", "insert",
    "append", "update", "save", "copy", "truncate",
];

/// Words in the name of a tool that say that what it is asked is asked of a database.
const DATABASES: [&str; 14] = [
    "sql",
    "postgres",
    "maria",
    "database",
    "db_",
    "_db",
    "duckdb",
    "clickhouse",
    "snowflake",
    "bigquery",
    "redshift",
    "supabase",
    "execute_query",
    "run_query",
];

/// Words in the name of a tool that say that it runs the code which it is given.
const RUNS: [&str; 9] = [
    "run",
    "exec",
    "eval",
    "interpret",
    "repl",
    "python",
    "node",
    "javascript",
    "jupyter",
];

/// What a call of a tool would do.
pub(super) fn action(tool: &str, input: &Map<String, Value>) -> Action {
    let lower = tool.to_ascii_lowercase();
    let is_about = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let paths = paths_in(input);
    if let Some(command) = commands_in(input) {
        // Some name with one word what is to be done to a path.
        let is_verb =
            !paths.is_empty() && command.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        return if is_verb && CHANGES.iter().any(|word| command.contains(word)) {
            Action::Write(paths)
        } else if is_verb {
            Action::Shell(with_words(&command, &paths))
        } else {
            Action::Shell(command)
        };
    }
    let asked = text_in(input, &["sql", "statement"]).or_else(|| {
        let query = text_in(input, &["query", "queries"]);
        query.filter(|_| is_about(&DATABASES))
    });
    if let Some(statement) = asked {
        return Action::Shell(client_of(&lower, statement));
    }
    let code = text_in(input, &["code", "source_code"]).filter(|_| is_about(&RUNS));
    let language = text_in(input, &["language", "lang", "runtime", "kernel"]).unwrap_or(&lower);
    if let Some(code) = code {
        return Action::Shell(one_liner(&language.to_ascii_lowercase(), code));
    }
    if !paths.is_empty() && is_about(&CHANGES) {
        return Action::Write(paths);
    }
    Action::Other
}

/// The statement as the database's own client is given it.
fn client_of(tool: &str, statement: &str) -> String {
    let client = if tool.contains("mysql") || tool.contains("maria") {
        "mysql -e"
    } else if tool.contains("sqlite") {
        "sqlite3 :memory:"
    } else {
        "psql -c"
    };
    given(client, statement)
}

/// The code as its interpreter is given it. What is of no language that is known is read as Python.
fn one_liner(language: &str, code: &str) -> String {
    let is = |names: &[&str]| names.iter().any(|name| language.contains(name));
    if is(&["bash", "shell", "zsh"]) || language == "sh" {
        return code.to_owned();
    }
    let interpreter = if is(&["powershell", "pwsh"]) {
        "pwsh -Command"
    } else if is(&["javascript", "typescript", "node", "deno", "bun", "js"]) {
        "node -e"
    } else if is(&["ruby"]) {
        "ruby -e"
    } else if is(&["perl"]) {
        "perl -e"
    } else if is(&["php"]) {
        "php -r"
    } else {
        "python3 -c"
    };
    given(interpreter, code)
}

/// A program and the words behind it.
fn with_words(program: &str, words: &[String]) -> String {
    words
        .iter()
        .fold(program.to_owned(), |command, word| given(&command, word))
}

/// A program that is given a text. One that no program can be given holds a NUL, which is refused
/// where it is seen.
pub(super) fn given(program: &str, text: &str) -> String {
    match shlex::try_quote(text) {
        Ok(quoted) => format!("{program} {quoted}"),
        Err(_) => "\0".to_owned(),
    }
}
