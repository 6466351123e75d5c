//! `git clean`: files that git does not keep.

use super::{
    super::{Rule, Severity, Subject, Tool, can_be_made_again},
    reference::{folder, in_temporary},
};
use crate::{
    analyze::{setting as kept, value::Arg},
    path as paths,
    path_class::PathClass,
};

pub(super) const CLEAN: Tool = Tool {
    names: &["git"],
    takes: "",
    one_dash: false,
    tests: &[
        ("in-temporary", in_temporary),
        ("made-again", cleans_what_can_be_made_again),
        ("within", cleans_within),
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
                "clean !-X -f|--force !-n|--dry-run !-i|--interactive !&in-temporary !&made-again !&within",
                "clean !-X -i|--interactive &answered !&in-temporary !&made-again !&within",
                "clean !-X &unforced !-n|--dry-run !-i|--interactive !&in-temporary !&made-again !&within",
            ],
            severity: Severity::Block,
            reason: "it permanently deletes files that git does not track",
            alternatives: &["git clean -n"],
            #[cfg(test)]
            catches: &[
                "git clean -fd",
                "git clean -xdf",
                "git clean --force",
                "git clean -fd .",
                "git clean -fd src/*",
                "git clean -ffd src",
                "git -C .. clean -fd src",
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
            id: "git.clean-within",
            when: &[
                "clean !-X -f|--force !-n|--dry-run !-i|--interactive &within !&in-temporary !&made-again",
                "clean !-X -i|--interactive &answered &within !&in-temporary !&made-again",
                "clean !-X &unforced !-n|--dry-run !-i|--interactive &within !&in-temporary !&made-again",
            ],
            severity: Severity::Ask,
            reason: "it deletes untracked files in the named folders",
            alternatives: &["git clean -n {1..}", "git clean -n"],
            #[cfg(test)]
            catches: &[
                "git clean -d -f src",
                "git clean -f docs",
                "git clean -fdx packages/a target",
                "yes | git clean -i src",
            ],
            #[cfg(test)]
            spares: &[
                "git clean -nd src",
                "git clean -fd src/generated",
                "git clean -fdx target",
                "git clean -i src",
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
            reason: "it deletes all ignored files, those set up by hand (`.env`) as well as those that can be rebuilt",
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
    let is_made = |path: &str| can_be_made_again(&paths::absolute(path, None), None);
    names_all(subject) && named(subject).all(|word| is_made(&word.text))
}

/// Whether all that is cleaned is named and inside of the project, and other repositories there stay.
fn cleans_within(subject: &Subject<'_>) -> bool {
    let words = subject.call.words.iter().map(|word| word.text.as_str());
    let short = words.filter(|word| word.starts_with('-') && !word.starts_with("--"));
    let forced = short.map(|word| word.matches('f').count()).sum::<usize>();
    let forced_at_length = subject
        .options
        .iter()
        .filter(|given| given.name == "--force");
    names_all(subject) && forced + forced_at_length.count() < 2
}

/// Whether folders and files of the project are named, and nothing else.
fn names_all(subject: &Subject<'_>) -> bool {
    let at = folder(subject);
    let mut paths = named(subject).peekable();
    paths.peek().is_some()
        && paths.all(|path| {
            let is_plain = path.is_known() && !path.text.starts_with(':') && !path.glob;
            is_plain && subject.place(&paths::absolute(&path.text, Some(&at))) == PathClass::Inside
        })
}

fn named<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = &'s Arg> {
    subject.operands.iter().skip(1).map(|(word, _)| *word)
}
