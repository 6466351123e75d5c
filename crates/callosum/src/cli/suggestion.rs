//! [`suggest_nearest`]: the command that a mistyped word was probably meant to be.
//!
//! clap guesses by Jaro similarity, which rates `ledger` and `replay` as near `delgate` as a slip of one letter. Edits
//! count here, as they do for the names of executors.

use std::ffi::OsString;

use callosum_arbiter::suggest::nearest;
use clap::error::{ContextKind, ContextValue};

/// The fewest letters that count as the beginning of a name.
const SHORTEST_START: usize = 3;

/// Replaces clap's guesses for a mistyped command by the one nearest name, or by none if no name is near.
pub(super) fn suggest_nearest(
    error: &mut clap::Error,
    arguments: &[OsString],
    program: &clap::Command,
) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let word = word.clone();
    let mut parent = program;
    for argument in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if argument == word {
            break;
        }
        parent = parent.find_subcommand(argument).unwrap_or(parent);
    }
    let shown = parent.get_subcommands().filter(|one| !one.is_hide_set());
    let mut names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    names.push("help");
    let is_start = |name: &&str| word.len() >= SHORTEST_START && name.starts_with(&word);
    let near = nearest(&word, names.iter().copied());
    match near.or_else(|| names.iter().copied().find(is_start)) {
        Some(name) => {
            let name = ContextValue::String(name.to_owned());
            error.insert(ContextKind::SuggestedSubcommand, name);
        }
        None => {
            error.remove(ContextKind::SuggestedSubcommand);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let program = super::super::tree();
        let mut error = program.clone().try_get_matches_from(&words).unwrap_err();
        suggest_nearest(&mut error, &words, &program);
        match error.get(ContextKind::SuggestedSubcommand)? {
            ContextValue::String(name) => Some(name.clone()),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_mistyped_command_gets_the_nearest_name() {
        for (line, name) in [
            ("callosum delgate", "delegate"),
            ("callosum deleagte map", "delegate"),
            ("callosum legder", "ledger"),
            ("callosum deleg", "delegate"),
            ("callosum dep", "deps"),
            ("callosum doctro", "doctor"),
            ("callosum -C . snapshto", "snapshot"),
            ("callosum ledger qeury", "query"),
            ("callosum session statsu", "status"),
            ("callosum executor runs wiat", "wait"),
        ] {
            assert_eq!(suggested(line).as_deref(), Some(name), "{line}");
        }
    }

    #[test]
    fn a_word_that_is_near_no_name_gets_none() {
        for line in ["callosum frobnicate", "callosum ledger zzz", "callosum x"] {
            assert_eq!(suggested(line), None, "{line}");
        }
    }
}
