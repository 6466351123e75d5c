//! The seed's own flag forms, rewritten as the verbs that they mean.
//!
//! `--replay-audit FILE` (Seed CAL §13.4) and `--cal-register NAME` (Seed CAL §14.4) take the place
//! of a verb; everything after them is passed on.

use std::ffi::{OsStr, OsString};

use clap::ValueEnum as _;

use super::global_args::ColorArg;

/// Rewrites a flag form before any verb.
pub(super) fn as_verbs(mut arguments: Vec<OsString>) -> Vec<OsString> {
    const FORMS: [(&str, &[&str]); 2] = [
        ("--replay-audit", &["replay"]),
        ("--cal-register", &["executor", "register"]),
    ];
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        for (flag, verbs) in FORMS {
            let given = argument.as_encoded_bytes();
            let value = given
                .strip_prefix(flag.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="));
            if argument == OsStr::new(flag) || value.is_some() {
                let value =
                    value.and_then(|value| std::str::from_utf8(value).ok().map(OsString::from));
                let words = verbs.iter().map(OsString::from).chain(value);
                arguments.splice(at..=at, words.collect::<Vec<_>>());
                return arguments;
            }
        }
        // Global flags may come before; the first word that is none of them is a verb.
        match argument.to_str() {
            Some(option) if takes_a_value(option) => at += 2,
            Some(flag) if flag.starts_with('-') && flag != "--" => at += 1,
            _ => break,
        }
    }
    arguments
}

/// Returns whether a word is a global option whose value is the next word.
pub(super) fn takes_a_value(word: &str) -> bool {
    ["-C", "--color"].contains(&word)
}

/// Returns what the last `--color` of a line says, or `auto`.
pub(super) fn color(arguments: &[OsString]) -> ColorArg {
    let words = arguments
        .iter()
        .map(|word| word.to_str().unwrap_or_default());
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let values = words.iter().enumerate().filter_map(|(at, word)| {
        let rest = word.strip_prefix("--color")?;
        match rest {
            "" => words.get(at + 1).copied(),
            _ => rest.strip_prefix('='),
        }
    });
    let mut values = values.filter_map(|value| ColorArg::from_str(value, false).ok());
    values.next_back().unwrap_or(ColorArg::Auto)
}

/// Returns the first word that is no global option: the verb, if there is one.
pub(super) fn verb(arguments: &[OsString]) -> Option<&str> {
    Some(verb_and_rest(arguments)?.0)
}

/// Returns the verb and the words after it.
pub(super) fn verb_and_rest(arguments: &[OsString]) -> Option<(&str, &[OsString])> {
    let mut at = 1;
    loop {
        match arguments.get(at)?.to_str()? {
            word if takes_a_value(word) => at += 2,
            word if word.starts_with('-') => at += 1,
            word => return Some((word, arguments.get(at + 1..)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, expected: &str) {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(as_verbs(words(given)), words(expected));
    }

    /// CAL-GOV-2, REQ-GOV-003 and CAL-EXE-1: the seed's flags are verbs of ours.
    #[test]
    fn the_seeds_flags_become_verbs() {
        check(
            "callosum --replay-audit day.jsonl",
            "callosum replay day.jsonl",
        );
        check(
            "callosum -C dir --replay-audit=day.jsonl",
            "callosum -C dir replay day.jsonl",
        );
        check(
            "callosum --cal-register forge --json",
            "callosum executor register forge --json",
        );
    }

    #[test]
    fn the_verb_is_found_behind_global_options() {
        let verb_of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            verb(&words).map(str::to_owned)
        };
        assert_eq!(
            verb_of("callosum --json delegate x").as_deref(),
            Some("delegate")
        );
        assert_eq!(
            verb_of("callosum -C delegate ledger").as_deref(),
            Some("ledger")
        );
        assert_eq!(verb_of("callosum --json"), None);
    }

    #[test]
    fn the_last_color_of_a_line_counts() {
        let color_of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            color(&words)
        };
        assert_eq!(color_of("callosum status"), ColorArg::Auto);
        assert_eq!(color_of("callosum --color never find x"), ColorArg::Never);
        assert_eq!(color_of("callosum find x --color=always"), ColorArg::Always);
        assert_eq!(
            color_of("callosum --color=always x --color never"),
            ColorArg::Never
        );
        assert_eq!(
            color_of("callosum guard check -- ls --color always"),
            ColorArg::Auto
        );
        assert_eq!(color_of("callosum --color"), ColorArg::Auto);
        let words = ["callosum", "--color", "always", "help", "guard"];
        assert_eq!(verb(&words.map(OsString::from)), Some("help"));
    }

    #[test]
    fn a_verbs_own_arguments_are_left_alone() {
        check(
            "callosum delegate --replay-audit",
            "callosum delegate --replay-audit",
        );
        check(
            "callosum -C --replay-audit init",
            "callosum -C --replay-audit init",
        );
    }
}
