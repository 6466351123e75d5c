//! Words with a part that may be empty: `git re${E}set --hard` is `git reset --hard` if `E` is
//! empty.
//!
//! Start with [`Evaluator::with_parts_empty`]. Deliberately not here: words that are not known at
//! all, which every rule has to bear, and paths, whose unknown parts are considered with the class
//! of the path.

use super::{
    evaluator::Evaluator,
    value::{Arg, MAYBE, Value},
};

impl Evaluator<'_> {
    /// Also examines a command as it runs if the unknown parts of its words are empty, as a guess.
    pub(super) fn with_parts_empty(&mut self, words: &[Arg], input: Option<&Value>) {
        if self.guessed {
            return;
        }
        let mut is_other = false;
        let emptied = |word: &Arg| {
            let Some(text) = emptied(&word.text) else {
                return word.clone();
            };
            is_other = true;
            Arg {
                text,
                ..word.clone()
            }
        };
        let emptied: Vec<Arg> = words.iter().map(emptied).collect();
        if is_other {
            self.guessing(|walker| walker.invoke(emptied, input.cloned(), Vec::new()));
        }
    }
}

/// Returns a word without its unknown parts, if it is a command's own then: a verb, an option or a
/// sign before a name.
fn emptied(text: &str) -> Option<String> {
    let rest = text.replace(MAYBE, "");
    let letters = rest.trim_start_matches(['-', '+']);
    let is_own = letters.starts_with(|c: char| c.is_ascii_alphabetic())
        && letters.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    // `$NAME-db` is a name, and no option.
    let is_end = text.starts_with(MAYBE) && rest.starts_with('-') && !rest.starts_with("--");
    (rest.len() < text.len() && is_own && !is_end).then_some(rest)
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    fn decision(command: &str) -> Decision {
        decide(command, &Facts::of_a_project(), &Policy::default()).decision
    }

    /// CAKE-SHIM-1: a part of a word that may come to nothing hides no verb, no option and no name of a program.
    #[test]
    fn a_part_that_may_be_empty_hides_no_verb() {
        for command in [
            "git re${E}set --hard",
            "git reset $E--hard",
            "git reset --hard$E",
            "git re$(true)set --hard",
            "git push --for${E}ce",
            "git push origin ${E}+main",
            "terraform des${E}troy -auto-approve",
            "docker system pr${E}une -af",
            "aws s3 r${E}b s3://b --force",
            "gi${E}t reset --hard",
            "bash -c \"git re${E}set --hard\"",
            "find ~ -del${E}ete",
        ] {
            assert_ne!(decision(command), Decision::Allow, "{command}");
        }
    }

    /// CAKE-SHIM-1: a name that is made of parts stays a name.
    #[test]
    fn a_name_that_is_made_of_parts_is_none_of_the_commands_own_words() {
        for command in [
            "git checkout \"$BRANCH\"",
            "git checkout release-$VERSION",
            "git ${GIT_OPTS} status",
            "npm run ${TASK}",
            "npm run build:$TARGET",
            "docker logs $PROJECT-force",
            "cargo test ${NAME}_works",
            "make ${TARGET}test",
            "git log --format=$FORMAT$E",
        ] {
            assert_eq!(decision(command), Decision::Allow, "{command}");
        }
    }
}
