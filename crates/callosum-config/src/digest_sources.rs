//! [`DigestSource`]: files and commands that the session-start digest quotes (`[[mesh.digest.sources]]` of config.toml), and
//! whether it names related past turns.
//!
//! Only the user's own configuration names them: a cloned repository adds no file to a digest and runs no command.

use std::time::Duration;

use toml::{Table, Value};

/// The keys of an entry.
const KEYS: [&str; 5] = ["name", "file", "command", "budget", "timeout"];

/// The keys of the table.
const TABLE_KEYS: [&str; 2] = ["sources", "related"];

/// Most sources.
const MOST: usize = 16;

/// Most tokens of a source.
const MOST_TOKENS: u64 = 400;

/// Most tokens of all sources: clients cut what a hook prints near 10,000 characters.
const MOST_TOKENS_OF_ALL: u64 = 1_000;

/// Tokens of a source without `budget`.
const USUAL_TOKENS: u64 = 100;

/// Longest time of a command, in milliseconds. A session waits for it.
const LONGEST: u64 = 2_000;

/// Time of a command without `timeout`.
const USUAL: Duration = Duration::from_secs(1);

/// Longest name, in characters.
const LONGEST_NAME: usize = 40;

/// Most words of a command.
const MOST_WORDS: usize = 64;

/// A file or command that a digest quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestSource {
    /// Its name in the digest.
    pub name: String,
    /// The file or command.
    pub from: SourceFrom,
    /// Most tokens of it in a digest.
    pub budget: u64,
}

/// The origin of a source's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceFrom {
    /// A file: absolute, below `~/`, or relative to the project's root and inside the project.
    File(String),
    /// A program with its arguments, which runs without a shell in the project's root.
    Command {
        /// The program and its arguments. Never empty.
        words: Vec<String>,
        /// Time after which it is ended.
        timeout: Duration,
    },
}

/// Reads the table `mesh.digest`, and adds what is wrong in it to `faults`.
pub(crate) fn read_all(value: &Value, faults: &mut Vec<String>) -> Vec<DigestSource> {
    let mut refuse = |key: &str, value: &Value, allowed: &str| {
        let shown: String = value.to_string().chars().take(80).collect();
        faults.push(format!(
            "`mesh.digest{key}` is {shown} (allowed: {allowed})"
        ));
    };
    let Some(table) = value.as_table() else {
        refuse("", value, "a table");
        return Vec::new();
    };
    for (key, value) in table
        .iter()
        .filter(|(key, _)| !TABLE_KEYS.contains(&key.as_str()))
    {
        refuse(
            &format!(".{key}"),
            value,
            "only `sources` and `related` exist",
        );
    }
    let Some(value) = table.get("sources") else {
        return Vec::new();
    };
    let entries = value.as_array().filter(|entries| entries.len() <= MOST);
    let Some(entries) = entries else {
        let allowed = "up to 16 tables `[[mesh.digest.sources]]`";
        refuse(".sources", value, allowed);
        return Vec::new();
    };
    let mut sources = Vec::new();
    for (at, value) in entries.iter().enumerate() {
        let key = format!(".sources[{at}]");
        let Some(table) = value.as_table() else {
            refuse(&key, value, "a table");
            continue;
        };
        for (name, value) in table
            .iter()
            .filter(|(name, _)| !KEYS.contains(&name.as_str()))
        {
            refuse(&format!("{key}.{name}"), value, &KEYS.join(", "));
        }
        sources.extend(read(table, |name, value, allowed| {
            refuse(&format!("{key}.{name}"), value, allowed);
        }));
    }
    let total: u64 = sources.iter().map(|source| source.budget).sum();
    if total > MOST_TOKENS_OF_ALL {
        faults.push(format!(
            "the budgets of `mesh.digest.sources` add up to {total} tokens (allowed: {MOST_TOKENS_OF_ALL})"
        ));
    }
    sources
}

/// Reads `mesh.digest.related`: whether a digest names related past turns. Adds what is wrong to `faults`.
pub(crate) fn read_related(value: &Value, faults: &mut Vec<String>) -> bool {
    match value.get("related") {
        None => true,
        Some(Value::Boolean(is_on)) => *is_on,
        Some(value) => {
            let shown: String = value.to_string().chars().take(80).collect();
            faults.push(format!(
                "`mesh.digest.related` is {shown} (allowed: true or false)"
            ));
            true
        }
    }
}

/// Reads an entry. `refuse` takes a key, its value and what is allowed.
fn read(table: &Table, mut refuse: impl FnMut(&str, &Value, &str)) -> Option<DigestSource> {
    let missing = Value::String(String::new());
    let name = table.get("name").and_then(Value::as_str).filter(|name| {
        let is_plain = !name.contains(char::is_control) && !name.trim().is_empty();
        is_plain && name.chars().count() <= LONGEST_NAME
    });
    if name.is_none() {
        let value = table.get("name").unwrap_or(&missing);
        refuse("name", value, "a line of 1 to 40 characters");
    }
    let budget = match table.get("budget") {
        None => Some(USUAL_TOKENS),
        Some(value) => {
            let tokens = value.as_integer().and_then(|tokens| tokens.try_into().ok());
            let tokens = tokens.filter(|tokens| (10..=MOST_TOKENS).contains(tokens));
            if tokens.is_none() {
                refuse("budget", value, "tokens, from 10 to 400");
            }
            tokens
        }
    };
    let timeout = match table.get("timeout") {
        None => Some(USUAL),
        Some(value) => {
            let timeout = value.as_str().and_then(milliseconds);
            let timeout = timeout.filter(|timeout| (50..=LONGEST).contains(timeout));
            if timeout.is_none() {
                refuse("timeout", value, "a time from 50ms to 2s, such as 500ms");
            }
            timeout.map(Duration::from_millis)
        }
    };
    let from = match (table.get("file"), table.get("command")) {
        (Some(value), None) => {
            let file = value.as_str().filter(|file| is_file(file));
            if file.is_none() {
                let allowed = "a path: absolute, below `~/`, or inside the project";
                refuse("file", value, allowed);
            }
            SourceFrom::File(file?.to_owned())
        }
        (None, Some(value)) => {
            let words = words(value);
            if words.is_none() {
                let allowed = "a list of a program and its arguments; the program is a name in PATH or absolute";
                refuse("command", value, allowed);
            }
            SourceFrom::Command {
                words: words?,
                timeout: timeout?,
            }
        }
        (None, None) => {
            refuse("file", &missing, "a path, or `command`");
            return None;
        }
        (Some(value), Some(_)) => {
            refuse("file", value, "either `file` or `command`");
            return None;
        }
    };
    Some(DigestSource {
        name: name?.trim().to_owned(),
        from,
        budget: budget?,
    })
}

fn is_file(path: &str) -> bool {
    let is_plain = !path.contains(char::is_control) && !path.is_empty() && !path.ends_with('/');
    is_plain && !path.split('/').any(|part| part == "..")
}

/// Reads a command. A relative program with a folder would be one of the project's own files.
fn words(value: &Value) -> Option<Vec<String>> {
    let words = value.as_array()?;
    let words: Vec<String> = words
        .iter()
        .map(|word| word.as_str().map(str::to_owned))
        .collect::<Option<_>>()?;
    let program = words.first().filter(|_| words.len() <= MOST_WORDS)?;
    let is_named = !program.is_empty() && (program.starts_with('/') || !program.contains('/'));
    is_named.then_some(words)
}

fn milliseconds(text: &str) -> Option<u64> {
    if let Some(number) = text.strip_suffix("ms") {
        return number.parse().ok();
    }
    let seconds: u64 = text.strip_suffix('s')?.parse().ok()?;
    seconds.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<DigestSource>, Vec<String>) {
        let table: Table = text.parse().unwrap();
        let mut faults = Vec::new();
        let source = super::read(&table, |key, _, allowed| {
            faults.push(format!("{key}: {allowed}"));
        });
        (source, faults)
    }

    /// CALC-BOOT-2: a file and a command, each with its own budget.
    #[test]
    fn a_file_and_a_command_are_read() {
        let (file, faults) = read("name = \"active tasks\"\nfile = \"docs/tasks.md\"\nbudget = 60");
        assert_eq!(faults, Vec::<String>::new());
        let file = file.unwrap();
        assert_eq!(file.from, SourceFrom::File("docs/tasks.md".to_owned()));
        assert_eq!(file.budget, 60);
        let (command, faults) =
            read("name = \"log\"\ncommand = [\"git\", \"log\"]\ntimeout = \"500ms\"");
        assert_eq!(faults, Vec::<String>::new());
        let expected = SourceFrom::Command {
            words: vec!["git".to_owned(), "log".to_owned()],
            timeout: Duration::from_millis(500),
        };
        assert_eq!(command.unwrap().from, expected);
    }

    /// CALC-BOOT-2: every fault is named by its key, and the budgets have a limit together.
    #[test]
    fn the_table_names_each_fault_and_bounds_the_sum() {
        let all = |text: &str| {
            let table: Table = text.parse().unwrap();
            let mut faults = Vec::new();
            let sources = read_all(&table["digest"], &mut faults);
            (sources.len(), faults.join("; "))
        };
        let entry = |name: &str| {
            format!("[[digest.sources]]\nname = \"{name}\"\nfile = \"a\"\nbudget = 400\n")
        };
        assert_eq!(all(&entry("a")), (1, String::new()));
        let (_, faults) = all(&[entry("a"), entry("b"), entry("c")].concat());
        assert!(
            faults.contains("add up to 1200 tokens (allowed: 1000)"),
            "{faults}"
        );
        let (_, faults) = all(&format!("{}lines = 3\n[digest]\nx = 1\n", entry("a")));
        assert!(
            faults.contains("`mesh.digest.sources[0].lines` is 3"),
            "{faults}"
        );
        assert!(faults.contains("`mesh.digest.x` is 1"), "{faults}");
        for (text, expected) in [
            ("", true),
            ("related = false", false),
            ("related = 1", true),
        ] {
            let table: Table = text.parse().unwrap();
            let mut faults = Vec::new();
            let is_on = read_related(&Value::Table(table), &mut faults);
            assert_eq!(
                (is_on, faults.len()),
                (expected, usize::from(text.ends_with('1')))
            );
        }
        assert!(all("digest = 1").1.contains("`mesh.digest` is 1"));
    }

    /// CALC-BOOT-2: no shell string, no program of the project, and nothing without a bound.
    #[test]
    fn faults_name_the_key_and_what_is_allowed() {
        for (text, key) in [
            ("file = \"a\"", "name"),
            ("name = \"a\"", "file"),
            ("name = \"a\"\nfile = \"a\"\ncommand = [\"b\"]", "file"),
            ("name = \"a\"\nfile = \"../a\"", "file"),
            ("name = \"a\"\nfile = \"docs/\"", "file"),
            ("name = \"a\"\ncommand = \"git log\"", "command"),
            ("name = \"a\"\ncommand = []", "command"),
            ("name = \"a\"\ncommand = [\"./run\"]", "command"),
            ("name = \"a\"\ncommand = [\"bin/run\"]", "command"),
            ("name = \"a\"\nfile = \"a\"\nbudget = 5000", "budget"),
            ("name = \"a\"\nfile = \"a\"\nbudget = -1", "budget"),
            (
                "name = \"a\"\ncommand = [\"b\"]\ntimeout = \"1m\"",
                "timeout",
            ),
            (
                "name = \"a\"\ncommand = [\"b\"]\ntimeout = \"9s\"",
                "timeout",
            ),
        ] {
            let (source, faults) = read(text);
            assert_eq!(source, None, "{text}");
            assert!(
                faults.iter().any(|fault| fault.starts_with(key)),
                "{text}: {faults:?}"
            );
        }
    }
}
