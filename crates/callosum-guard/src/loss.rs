//! Whether a command may lose work that stands in the tree, whatever is decided about it.
//!
//! It is for those who keep the tree first: much that may well run, such as `rm -r src`, cannot be
//! made good without that. Nothing here is a verdict.

use crate::{
    facts::Facts,
    place::Place,
    rule::{self, Severity, Subject},
    unwrap::Call,
};

/// Programs that delete or overwrite the files which they are given.
const DELETERS: [&str; 17] = [
    "rm",
    "grm",
    "rimraf",
    "del-cli",
    "rmrf",
    "srm",
    "del",
    "rd",
    "erase",
    "ri",
    "Remove-Item",
    "remove-item",
    "unlink",
    "shred",
    "wipe",
    "trash-empty",
    "truncate",
];

/// Whether files within the project go by it, or what stands in them.
pub(crate) fn loses(call: &Call, facts: &Facts) -> bool {
    if call.elsewhere {
        return false;
    }
    let subject = || Subject::of_user(call, "", facts);
    let name = call.name.as_str();
    if DELETERS.contains(&name) {
        let subject = subject();
        let mut operands = subject.operands.iter();
        return operands.any(|(word, _)| holds_work(subject.place(&word.text)));
    }
    if matches!(name, "" | ":" | "true") {
        let place = |path: &str| crate::place::place(path, call.cwd.as_deref(), facts);
        let mut writes = call.writes.iter().filter(|write| !write.appends);
        return writes.any(|write| holds_work(place(&write.path)));
    }
    match name {
        "git" => {
            let subject = Subject::of_user(call, "-C -c --git-dir --work-tree", facts);
            let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
            match subject.operand(0) {
                "merge" | "rebase" | "cherry-pick" | "revert" | "am" => {
                    has(&["--abort", "--skip", "--quit"])
                }
                "checkout" => has(&["--ours", "--theirs"]),
                "reset" => has(&["--keep", "--merge", "--hard"]),
                _ => false,
            }
        }
        "cp" | "dd" => call.words.iter().any(|word| {
            let text = word.text.as_str();
            text == "/dev/null" || text == "if=/dev/null" || text == "if=/dev/zero"
        }),
        "rsync" => {
            let subject = subject();
            let deletes = subject.options.iter().any(|given| {
                given.name.starts_with("--del") || given.name == "--remove-source-files"
            });
            deletes && !subject.has("-n") && !subject.has("--dry-run")
        }
        _ => false,
    }
}

/// Whether a rule holds that is more than a note, however strict one is.
pub(crate) fn is_grave(call: &Call, facts: &Facts) -> bool {
    rule::tools(&call.name).any(|tool| {
        let subject = Subject::new(call, tool, facts);
        let mut grave = tool
            .rules
            .iter()
            .filter(|rule| rule.severity != Severity::Note);
        grave.any(|rule| rule.when.iter().any(|when| subject.matches(when)))
    })
}

/// Whether a snapshot of the tree could bring back what stood there. Of what is not known it may.
const fn holds_work(place: Place) -> bool {
    matches!(
        place,
        Place::Inside
            | Place::Everything
            | Place::Project
            | Place::Vital
            | Place::MaybeVital
            | Place::Unknown
    )
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, Strictness, decide};

    fn facts() -> Facts {
        Facts {
            cwd: Some("/home/u/p".to_owned()),
            home: Some("/home/u".to_owned()),
            root: Some("/home/u/p".to_owned()),
            git_dir: Some("/home/u/p/.git".to_owned()),
            ..Facts::default()
        }
    }

    /// CAKE-SNAP-1: what may run and yet loses work is known, and what is harmless is none of it.
    #[test]
    fn what_loses_work_is_told_although_it_is_allowed() {
        for command in [
            "rm -rf src",
            "rm a.rs",
            "cd src && rm -r x",
            "bash -c 'rm -r src'",
            "ls | xargs rm",
            "find src -name '*.rs' -delete",
            "rm -rf \"$DIR\"",
            ": > src/lib.rs",
            "> src/lib.rs",
            "truncate -s 0 app.log",
            "cp /dev/null src/lib.rs",
            "git rebase --abort",
            "git checkout --theirs a.rs",
            "rsync -a --delete new/ src/",
            "unlink a.rs",
        ] {
            let verdict = decide(command, &facts(), &Policy::default());
            assert!(verdict.destroys, "{command}: {verdict:?}");
        }
        for command in [
            "ls -la",
            "git status",
            "git commit -m 'rm -rf src'",
            "echo rm a.rs",
            "rm -rf /tmp/x",
            "cargo test > out.txt",
            "echo x > src/lib.rs",
            "sed -i s/a/b/ src/lib.rs",
            "grep -r rm src",
            "git checkout main",
            "git stash",
            "rsync -a a/ b/",
            "mkdir -p src/x",
            "docker run --rm alpine rm x",
        ] {
            let verdict = decide(command, &facts(), &Policy::default());
            assert_eq!(verdict.decision, Decision::Allow, "{command}");
            assert!(!verdict.destroys, "{command}");
        }
    }

    /// CAKE-SNAP-1: what strictness lets through loses no less work for that.
    #[test]
    fn what_is_grave_stays_so_where_little_is_asked_about() {
        let policy = Policy {
            strictness: Strictness::Minimal,
            ..Policy::default()
        };
        for command in ["git checkout -- .", "git restore a.rs", "git stash drop"] {
            let verdict = decide(command, &facts(), &policy);
            assert_eq!(verdict.decision, Decision::Allow, "{command}");
            assert!(verdict.destroys, "{command}");
        }
        assert!(!decide("git status", &facts(), &policy).destroys);
    }
}
