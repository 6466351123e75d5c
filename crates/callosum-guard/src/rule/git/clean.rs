//! `git clean`: files that git does not keep.

use super::{
    super::{Rule, Severity, Subject, Tool, can_be_made_again},
    reference::in_temporary,
};
use crate::{path as paths, place::Place, unwrap::setting as kept};

pub(super) const CLEAN: Tool = Tool {
    names: &["git"],
    takes: "",
    one_dash: false,
    tests: &[
        ("in-temporary", in_temporary),
        ("made-again", cleans_what_can_be_made_again),
        ("answered", |s| s.call.input.is_some()),
        ("unforced", |s| {
            let last = s
                .call
                .settings
                .iter()
                .rev()
                .find(|(key, _)| key == "clean.requireforce");
            last.is_some_and(|(_, value)| kept::is_false(value))
        }),
    ],
    rules: &[
        Rule {
            id: "git.clean",
            when: &[
                "clean !-X -f|--force !-n|--dry-run !-i|--interactive !&in-temporary !&made-again",
                "clean !-X -i|--interactive &answered !&in-temporary !&made-again",
                "clean !-X &unforced !-n|--dry-run !-i|--interactive !&in-temporary !&made-again",
            ],
            severity: Severity::Block,
            reason: "it deletes files that git does not keep, for good",
            alternatives: &["git clean -n"],
            #[cfg(test)]
            catches: &[
                "git clean -fd",
                "git clean -xdf",
                "git clean --force",
                "git clean -d -f src",
                "yes | git clean -i",
                "git -c clean.requireForce=false clean -d",
                "git config clean.requireForce no && git clean -dx",
                "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=clean.requireForce GIT_CONFIG_VALUE_0=0 git clean",
            ],
            #[cfg(test)]
            spares: &[
                "git clean -n",
                "git clean -nfd",
                "git clean -i",
                "git clean -d",
                "git -c clean.requireForce=false clean -n",
                "t=$(mktemp -d) && cd \"$t\" && git init -q && git clean -fdx",
                "git clone -q x /tmp/x && git -C /tmp/x clean -fd",
                "git clean -fdx target",
                "git clean -fdx -- node_modules packages/a/dist",
            ],
        },
        Rule {
            id: "git.clean-ignored",
            when: &[
                "clean -X -f|--force !-n|--dry-run !-i|--interactive !&in-temporary !&made-again",
                "clean -X -i|--interactive &answered !&in-temporary !&made-again",
                "clean -X &unforced !-n|--dry-run !-i|--interactive !&in-temporary !&made-again",
            ],
            severity: Severity::Ask,
            reason: "it deletes all that git ignores, what was set up by hand (`.env`) as well as what can be built again",
            alternatives: &["git clean -ndX"],
            #[cfg(test)]
            catches: &[
                "git clean -fdX",
                "git clean -X --force",
                "git clean -dfX src",
                "git -c clean.requireForce=false clean -X",
            ],
            #[cfg(test)]
            spares: &["git clean -ndX", "git clean -fdX target", "git clean -X"],
        },
    ],
};

/// Whether all that is cleaned is named, inside of the project, and can be made again.
fn cleans_what_can_be_made_again(subject: &Subject<'_>) -> bool {
    let mut paths = subject.operands.iter().skip(1).map(|(word, _)| word);
    paths.len() > 0
        && paths.all(|path| {
            let is_plain = path.is_known() && !path.text.starts_with(':') && !path.glob;
            is_plain
                && subject.place(&path.text) == Place::Inside
                && can_be_made_again(&paths::absolute(&path.text, None), None)
        })
}
