//! Whether a command may lose work in the tree, independent of the verdict on it.
//!
//! It is for callers that save the tree first: many commands that may well run, such as
//! `rm -r src`, are irreversible without that. Nothing here is a verdict.

use crate::{
    analyze::{Call, Subject, value::is_known},
    facts::Facts,
    path,
    path_class::PathClass,
    program_names::DELETERS,
    rule::{self, Severity},
};

/// Limit on the earlier places of a file that are reported.
const MOST_PLACES: usize = 16;

/// Whether it loses files within the project, or their contents.
pub(crate) fn loses(call: &Call, facts: &Facts) -> bool {
    if call.elsewhere {
        return false;
    }
    let subject = || Subject::new(call, "", facts);
    let name = call.name.as_str();
    let deletes = DELETERS.contains(&name) && name != "rmdir";
    if deletes || matches!(name, "shred" | "wipe" | "truncate") {
        let subject = subject();
        let mut operands = subject.operands.iter();
        return operands.any(|(word, _)| holds_work(subject.place(&word.text)));
    }
    let place = |path: &str| crate::path_class::place(path, call.cwd.as_deref(), facts);
    let mut writes = call.writes.iter().filter(|write| !write.appends);
    if matches!(name, "" | ":" | "true") {
        return writes.any(|write| holds_work(place(&write.path)));
    }
    // The shell empties it before the program reads it.
    if writes.any(|write| names(call, &write.path) && holds_work(place(&write.path))) {
        return true;
    }
    let to = |at: Option<&str>| at.is_some_and(|path| holds_work(place(path)));
    match name {
        "git" => {
            let subject = Subject::new(call, "", facts);
            let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
            match subject.operand(0) {
                "clean" => !has(&["-n", "--dry-run"]),
                "switch" => has(&["-f", "--force", "--discard-changes"]),
                "rm" | "mv" | "checkout-index" => has(&["-f", "--force"]),
                "read-tree" => has(&["--reset", "-u"]),
                "merge" | "rebase" | "cherry-pick" | "revert" | "am" => {
                    has(&["--abort", "--skip", "--quit"])
                }
                "checkout" => has(&["--ours", "--theirs", "-f", "--force"]),
                "reset" => has(&["--keep", "--merge", "--hard"]),
                _ => false,
            }
        }
        // A file that is moved out of the project is lost along with its new place.
        "mv" | "gmv" => {
            let subject = Subject::new(call, "-t --target-directory -S --suffix", facts);
            let into = subject
                .value("-t")
                .or_else(|| subject.value("--target-directory"));
            let mut sources = subject.operands.iter();
            let last = if into.is_none() {
                sources.next_back().map(|(word, _)| word.text.as_str())
            } else {
                into
            };
            let stays =
                last.is_some_and(|to| matches!(place(to), PathClass::Inside | PathClass::Project));
            !stays && sources.any(|(word, _)| to(Some(&word.text)))
        }
        "gzip" | "pigz" | "bzip2" | "xz" | "zstd" => {
            let subject = subject();
            let reads = ["-c", "--stdout", "-l", "--list", "-t", "--test"];
            let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
            has(&["-r", "--recursive"]) && !has(&reads)
        }
        // They put files into an archive, and take them away.
        "zip" => {
            let subject = Subject::new(call, "-x -i -b -P -t -tt -n", facts);
            subject.has("-m") || subject.has("--move")
        }
        "7z" | "7za" | "7zz" => call.words.iter().any(|word| word.text == "-sdel"),
        "tar" | "gtar" | "bsdtar" => subject().has("--remove-files"),
        "uniq" => {
            let subject = Subject::new(call, "-f -s -w", facts);
            let second = subject.operands.get(1);
            to(second.map(|(word, _)| word.text.as_str()))
        }
        "sed" | "gsed" => cuts_in_place(call, facts),
        "awk" | "gawk" | "mawk" | "nawk" => {
            let mut words = call.words.iter().skip(1);
            words.any(|word| word.text == "inplace" || prints_into_file(&word.text))
        }
        // Of each file only those lines are left that are printed.
        "perl" => {
            let words = call.words.iter().skip(1).map(|word| word.text.as_str());
            let letters = words.filter_map(|word| word.strip_prefix('-'));
            let letters: String = letters
                .filter(|word| !word.starts_with(['M', 'I']))
                .collect();
            letters.contains('i') && letters.contains('n') && !letters.contains('p')
        }
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

/// Whether one of the words of a command is this path.
fn names(call: &Call, path: &str) -> bool {
    let absolute = |text: &str| path::absolute(text, call.cwd.as_deref());
    let wanted = absolute(path);
    let mut words = call.words.iter().skip(1);
    words.any(|word| absolute(&word.text) == wanted)
}

/// Whether `sed -i` takes more out of files than it puts in: lines are deleted, or only those are
/// printed that fit.
fn cuts_in_place(call: &Call, facts: &Facts) -> bool {
    let subject = Subject::new(call, "-e -f --expression --file -l --line-length", facts);
    let mut words = call.words.iter().skip(1).map(|word| word.text.as_str());
    let is_in_place = words.any(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        word.starts_with("--in-place") || letters.is_some_and(|letters| letters.contains('i'))
    });
    let given = ["-e", "--expression"];
    let script = given.iter().find_map(|option| subject.value(option));
    let script = script.unwrap_or_else(|| subject.operand(0));
    let deletes = script.split([';', '\n', '{']).any(|command| {
        let behind = command.trim_end().trim_end_matches('}').trim_end();
        // What is put in for something may end in these letters as well.
        let puts = ["s", "y", "a", "i"].iter().any(|verb| {
            behind
                .strip_prefix(verb)
                .is_some_and(|rest| rest.starts_with(|mark: char| !mark.is_alphanumeric()))
        });
        !puts && behind.ends_with(['d', 'D', 'q', 'Q'])
    });
    is_in_place && (deletes || subject.has("-n") || subject.has("--quiet"))
}

/// Whether a program of awk's prints into a file.
fn prints_into_file(program: &str) -> bool {
    let Some(print) = program.find("print") else {
        return false;
    };
    let mut marks = program[print..].match_indices('>');
    marks.any(|(at, _)| {
        let at = print + at;
        let behind = program[at + 1..].trim_start();
        let is_appended = behind.starts_with('>') || program[..at].ends_with('>');
        !is_appended && !behind.starts_with('=') && !behind.starts_with("\"/dev/")
    })
}

/// Lists the files within the project that a command names, for callers that save only those. For a
/// file that was searched for by its name, all files of that name.
pub(crate) fn named<'a>(call: &'a Call, facts: &'a Facts) -> impl Iterator<Item = String> + 'a {
    let words = call.words.iter().skip(1);
    let words = words.map(|word| (word.text.as_str(), word.source.found));
    let writes = call.writes.iter().map(|write| (write.path.as_str(), false));
    words.chain(writes).flat_map(|(text, is_found)| {
        let text = text.strip_prefix("of=").unwrap_or(text);
        let root = facts.root.as_deref();
        let is_path = !call.elsewhere && !text.is_empty() && !text.starts_with('-');
        let path = call.cwd.as_deref();
        let path = path.map(|cwd| path::absolute(text, Some(cwd)));
        let path = path.filter(|path| {
            let is_own = root.is_some_and(|root| path::is_within(path, root));
            is_path && is_known(text) && is_own
        });
        let below = path.as_deref().filter(|_| is_found).and_then(|path| {
            let (folder, name) = path.rsplit_once('/')?;
            let is_kept = !rule::can_be_made_again(path, root);
            is_kept.then(|| format!("{folder}/**/{name}"))
        });
        path.into_iter().chain(below)
    })
}

/// Returns a path, and the places of its contents before they were moved.
pub(crate) fn with_places_before(path: String, moves: &[(String, String)]) -> Vec<String> {
    let mut places = vec![path];
    for (to, from) in moves.iter().rev() {
        let (to, from) = (to.trim_end_matches('/'), from.trim_end_matches('/'));
        let inner = places.iter().filter_map(|place| {
            let inner = path::is_within(place, to).then(|| &place[to.len()..])?;
            Some(format!("{from}{inner}"))
        });
        let before: Vec<String> = inner.collect();
        places.extend(before);
        places.truncate(MOST_PLACES);
    }
    places
}

/// Whether a rule holds that is more than a note, however strict one is.
pub(crate) fn is_grave(call: &Call, facts: &Facts) -> bool {
    rule::tools(&call.name).any(|tool| {
        let subject = tool.read(call, facts);
        let mut grave = tool
            .rules
            .iter()
            .filter(|rule| rule.severity != Severity::Note);
        grave.any(|rule| {
            rule.when
                .iter()
                .any(|when| rule::matches(&subject, when, tool.tests))
        })
    })
}

/// Whether a snapshot of the tree could bring back what stood there. Of what is not known it may.
const fn holds_work(place: PathClass) -> bool {
    matches!(
        place,
        PathClass::Inside
            | PathClass::Everything
            | PathClass::Project
            | PathClass::Vital
            | PathClass::MaybeVital
            | PathClass::Unknown
    )
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, Strictness, decide};

    fn facts() -> Facts {
        Facts::of_a_project()
    }

    /// CAKE-SNAP-1: what may run and yet loses work is known, and what is harmless is none of it.
    #[test]
    fn loss_of_work_is_reported_although_it_is_allowed() {
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
            "git rebase --abort",
            "git checkout --theirs a.rs",
            "rsync -a --delete new/ src/",
            "unlink a.rs",
            "sed -i d a.rs",
            "sed -i '/x/d' a.rs",
            "sed -n -i '1,5p' a.rs",
            "sed -i.bak -e '$ d' a.rs",
            "awk '{print $1 > \"a.rs\"}' a.rs",
            "awk '{print $1}' a.rs > a.rs",
            "sort a.rs > ./a.rs",
            "uniq a.rs a.rs",
            "git -c clean.requireForce=false clean",
            "git switch --discard-changes main",
            "git rm -rf src",
            "mv src /tmp/gone && rm -rf /tmp/gone",
            "zip -rm a.zip src",
            "7z a -sdel a.7z src",
            "gzip -r src",
            "tar czf a.tgz --remove-files src",
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
            "mv b.rs a.rs",
            "mv src/a.rs src/b",
            "cp -f /tmp/b.rs src/a.rs",
            "sed -i 's/ad/d/; s/x/q/' a.rs",
            "sed -n /x/p a.rs",
            "sed /x/d a.rs > b.rs",
            "awk '$1 > 5 {print $2}' a.rs",
            "awk '{print $1}' a.rs > b.rs",
            "uniq a.rs",
            "git clean -n",
            "git rm a.rs",
            "cp -n a.rs b.rs",
            "cp a.rs /tmp/a.rs",
            "docker run --rm alpine rm x",
        ] {
            let verdict = decide(command, &facts(), &Policy::default());
            assert_eq!(verdict.decision, Decision::Allow, "{command}");
            assert!(!verdict.destroys, "{command}");
        }
    }

    /// CAKE-SNAP-1: named files that may be lost are reported, for a repository may ignore them.
    #[test]
    fn named_files_that_may_be_lost_are_reported() {
        let named = |command: &str| decide(command, &facts(), &Policy::default()).named;
        for (command, expected) in [
            (
                "cd src && rm -r x ../a.rs",
                &["/home/u/p/src/x", "/home/u/p/a.rs"][..],
            ),
            ("rm -f *.log /etc/x", &["/home/u/p/*.log"]),
            (": > b", &["/home/u/p/b"]),
            ("ls a && cat b", &[]),
            ("rm -rf \"$DIR\"", &[]),
            (
                "mv data data.old; mkdir data; rm -rf data.old",
                &["/home/u/p/data.old", "/home/u/p/data"],
            ),
            (
                "cp -r src n && mv data o && mv n data && rm -rf o/x",
                &["/home/u/p/o/x", "/home/u/p/data/x"],
            ),
            (
                "mv data src && rm -rf src/data",
                &[
                    "/home/u/p/src/data",
                    "/home/u/p/data/data",
                    "/home/u/p/data",
                ],
            ),
            (
                "mv data src/ && rm -rf src",
                &["/home/u/p/src", "/home/u/p/data"],
            ),
            (
                "F=$(find . -name app.db); rm -f \"$F\"",
                &["/home/u/p/app.db", "/home/u/p/**/app.db"],
            ),
            (
                "find sub -name app.db -delete",
                &["/home/u/p/sub/app.db", "/home/u/p/sub/**/app.db"],
            ),
            (
                "find . -name node_modules -exec rm -rf {} +",
                &["/home/u/p/node_modules"],
            ),
        ] {
            assert_eq!(named(command), expected, "{command}");
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
