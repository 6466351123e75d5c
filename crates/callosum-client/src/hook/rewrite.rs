//! Running the alternative of a refused command in its place (Seed CAKE §5, `pre_execute`), if the user turned that on.
//!
//! Start with [`alternative`]. Only a plain command is replaced, by one of the same program and subcommand that the guard allows,
//! such as `git push --force` by `git push --force-with-lease`. The client gets the new command, its model gets a note, and the
//! record has both.

use callosum_guard::{Decision, Verdict};
use serde_json::{Map, Value};

/// Words that begin both commands.
const SAME_WORDS: usize = 2;

/// Characters that join commands, redirect, or expand to more than the text.
const COMPOUND: [char; 14] = [
    ';', '&', '|', '<', '>', '$', '`', '(', ')', '{', '}', '\n', '\\', '#',
];

/// Returns the command that runs in place of a refused one, or `None` if there is none that does the same more carefully.
///
/// `allows` is whether the guard allows a command without asking.
pub(super) fn alternative<'v>(
    command: &str,
    verdict: &'v Verdict,
    allows: impl FnOnce(&str) -> bool,
) -> Option<&'v str> {
    let alternative = verdict.alternative.as_deref()?;
    let is_refused = verdict.decision != Decision::Allow;
    let is_plain = |text: &str| !text.contains(COMPOUND);
    let first = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().take(SAME_WORDS);
        words.map(str::to_owned).collect()
    };
    let words = first(command);
    let is_same = words.len() == SAME_WORDS && words == first(alternative);
    (is_refused && is_plain(command) && is_plain(alternative) && is_same && allows(alternative))
        .then_some(alternative)
}

/// Returns the tool's input with another command.
pub(super) fn input_with(fields: &Map<String, Value>, command: &str) -> Value {
    let mut input = fields
        .get("tool_input")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    input.insert("command".to_owned(), command.into());
    input.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-ADP-2: only a plain command is replaced, by one of the same program and subcommand that is allowed.
    #[test]
    fn a_careful_form_of_the_same_command_replaces_it() {
        let lease = "git push --force-with-lease origin main";
        for (command, alternative_of, allowed, replaced) in [
            ("git push --force origin main", lease, true, true),
            ("git push --force origin main", lease, false, false),
            ("cd x && git push --force origin main", lease, true, false),
            ("git push --force origin $BRANCH", lease, true, false),
            ("terraform destroy", "terraform plan -destroy", true, false),
            ("npm publish", "npm pack --dry-run", true, false),
            ("git push --force", "run it as one command", true, false),
        ] {
            let verdict = Verdict {
                decision: Decision::Block,
                alternative: Some(alternative_of.to_owned()),
                ..Verdict::default()
            };
            let found = alternative(command, &verdict, |_| allowed);
            assert_eq!(found.is_some(), replaced, "{command}");
        }
    }
}
