//! Filters of lines: `grep`, `awk` and `sed` that let through only lines with a text that was named.

use super::{value::Arg, wrapper_table::first_operand};

/// Whether a filter lets through only what fits something that was named.
///
/// The marks of `git status` name no file: `grep '^??'` and `awk '/^ M/'` leave all that is new or
/// changed. The states of a worktree or a connection name none either.
pub(super) fn picks_out(name: &str, words: &[Arg]) -> bool {
    const MARKS: [&str; 3] = ["worktree", "LISTEN", "ESTABLISHED"];
    let names = |text: &str| {
        let letters = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        letters
            .into_iter()
            .any(|run| run.len() > 1 && !MARKS.contains(&run))
    };
    let words = words.get(1..).unwrap_or_default();
    let inverts = words.iter().any(|word| {
        let text = word.text.as_str();
        text == "--invert-match" || text == "--files-without-match" || {
            text.starts_with('-') && !text.starts_with("--") && text.contains(['v', 'L'])
        }
    });
    let program = || {
        let operands = words.iter().filter(|word| !word.text.starts_with('-'));
        operands.map(|word| word.text.as_str())
    };
    match name {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => !inverts && program().any(names),
        // `/x/ {…}`, but neither `!/x/` nor `$1 !~ /x/`.
        "awk" | "gawk" | "mawk" => program().next().is_some_and(|text| {
            let condition = text.split('{').next().unwrap_or(text);
            !condition.contains('!') && names(condition.trim_start_matches("NR"))
        }),
        "sed" | "gsed" => {
            let quiet = words.iter().any(|word| word.text == "-n");
            quiet
                && program()
                    .next()
                    .is_some_and(|text| !text.contains("/!p") && names(text))
        }
        _ => false,
    }
}

/// Whether awk lets through only lines of a list that have a text which is named: neither a mark of git's, nor what is
/// counted (`NF`, `NR > 10`).
pub(super) fn picks_by_text(name: &str, words: &[Arg]) -> bool {
    let program = words.get(first_operand(words, 1, "-F -v -f -E"));
    let program = program.map_or("", |word| word.text.as_str());
    let condition = program.split('{').next().unwrap_or(program);
    let is_mark = |text: &str| {
        let mut letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.all(|letter| "ACDMRTU".contains(letter))
    };
    let wanted = wanted_by_awk(condition);
    picks_out(name, words) && !condition.contains("||") && wanted.iter().any(|text| !is_mark(text))
}

/// Lists what a condition of awk compares a line with: patterns between slashes, and strings.
pub(super) fn wanted_by_awk(condition: &str) -> Vec<&str> {
    let mut wanted = Vec::new();
    let mut rest = condition;
    while let Some(at) = rest.find(['/', '"']) {
        let sign = &rest[at..=at];
        let Some(length) = rest[at + 1..].find(sign) else {
            break;
        };
        wanted.push(&rest[at + 1..at + 1 + length]);
        rest = &rest[at + length + 2..];
    }
    wanted
}
