//! The command line that registers an executor with its current entry.
//!
//! A hint shows it if one word of an entry is wrong: the entry with that word corrected, to be
//! pasted. Deliberately not here: which word is right (advice).

use callosum_executor::discover::Known;
use callosum_executor::registry::{Executor, Kind};

use crate::time_span::span_text;

/// Words it; what registration grants by itself is left out.
pub fn registration_line(executor: &Executor) -> String {
    let mut words: Vec<String> = ["callosum", "executor", "register"].map(Into::into).into();
    words.push(executor.id.clone());
    let options = options(executor).into_iter();
    words.extend(options.flat_map(|(option, value)| [option.to_owned(), value]));
    words
        .iter()
        .map(|word| quoted(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The options that say what is started; the others bound it.
const STARTS: [&str; 5] = ["--command", "--endpoint", "--model", "--tool", "--protocol"];

/// The options of an entry that bound what it starts, each with its value.
pub fn bounds(executor: &Executor) -> Vec<(&'static str, String)> {
    let mut options = options(executor);
    options.retain(|(option, _)| !STARTS.contains(option));
    options
}

/// The options of an entry that say what it starts or asks, each with its value.
pub fn questions(executor: &Executor) -> Vec<(&'static str, String)> {
    let mut options = options(executor);
    options.retain(|(option, _)| STARTS.contains(option));
    options
}

/// Options as they are written in a line.
pub fn worded(options: &[(&'static str, String)]) -> String {
    let worded = options
        .iter()
        .map(|(option, value)| format!("{option} {}", quoted(value)));
    worded.collect::<Vec<_>>().join(" ")
}

/// The options that an entry is registered with; what registration grants by itself is left out.
fn options(executor: &Executor) -> Vec<(&'static str, String)> {
    let mut options = Vec::new();
    let mut granted = executor.clone();
    for list in [
        &mut granted.pass_environment,
        &mut granted.readable,
        &mut granted.writable,
        &mut granted.network,
    ] {
        list.clear();
    }
    granted.grant_needs();
    let known = Known::named(&executor.id);
    let is_known =
        known.is_some_and(|known| known.entry().command_template == executor.command_template);
    let mut put = |option, value: &str| options.push((option, value.to_owned()));
    if executor.kind != Kind::Http && executor.endpoint.is_none() && !is_known {
        put("--command", &executor.command_template);
    }
    let implied = match executor.kind {
        Kind::Http => Some("openai"),
        Kind::Mcp if executor.tool.is_some() => executor.protocol.as_deref(),
        Kind::Mcp | Kind::Cli => None,
    };
    let protocol = if executor.takes_tasks() {
        executor.protocol.clone()
    } else {
        Some("mcp".to_owned())
    };
    let single = [
        ("--endpoint", executor.endpoint.clone()),
        ("--model", executor.model.clone()),
        ("--api-key-env", executor.api_key_env.clone()),
        ("--tool", executor.tool.clone()),
        ("--argument", executor.argument.clone()),
        (
            "--context-tokens",
            executor.context_tokens.map(|tokens| tokens.to_string()),
        ),
        (
            "--protocol",
            protocol.filter(|protocol| !is_known && Some(protocol.as_str()) != implied),
        ),
        ("--idle-timeout", executor.quiet_ms.map(span_text)),
        ("--timeout", executor.total_ms.map(span_text)),
        (
            "--sandbox",
            executor
                .confinement
                .map(|policy| policy.as_str().to_owned()),
        ),
    ];
    for (option, value) in single {
        if let Some(value) = value {
            put(option, &value);
        }
    }
    let repeated = [
        (
            "--pass-env",
            &executor.pass_environment,
            &granted.pass_environment,
        ),
        ("--allow-read", &executor.readable, &granted.readable),
        ("--allow-write", &executor.writable, &granted.writable),
        ("--allow-net", &executor.network, &granted.network),
    ];
    for (option, values, granted) in repeated {
        for value in values.iter().filter(|value| !granted.contains(value)) {
            put(option, value);
        }
    }
    options
}

/// A word as a shell reads it back, which knows `~/` as well.
fn quoted(word: &str) -> String {
    let (home, rest) = match word.strip_prefix("~/") {
        Some("") => return word.to_owned(),
        Some(rest) => ("~/", rest),
        None => ("", word),
    };
    // Only a NUL byte cannot be quoted, and no entry has one that was registered.
    let rest = shlex::try_quote(rest).map_or_else(|_| rest.replace('\0', ""), Into::into);
    format!("{home}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_named_as_a_shell_knows_it() {
        assert_eq!(quoted("~/.pyenv/"), "~/.pyenv/");
        assert_eq!(quoted("~/"), "~/");
        assert_eq!(quoted("~/a b/"), "~/'a b/'");
        assert_eq!(quoted("$HOME"), "'$HOME'");
    }
}
