//! Contents that are destroyed without a file being removed: emptied, overwritten with zeros, every
//! line deleted.
//!
//! To empty one file of the project is an edit. To empty many is not, nor is writing zeros over a
//! source. Logs and what can be built again do not count. That files which are protected or lie
//! outside are written at all is looked at elsewhere.

use super::{Rule, Severity, Subject};
use crate::{
    analyze::{Call, value::Arg},
    path,
    path_class::PathClass,
    sed::Sed,
};

/// The rule, which looks at every command: most of these do something else as well.
pub(super) const EMPTIED: Rule = Rule {
    id: "file.truncate",
    when: &["&empties"],
    severity: Severity::Ask,
    reason: "it empties many files or overwrites a source file, without deleting any",
    alternatives: &[],
    #[cfg(test)]
    catches: &[
        "truncate -s 0 *",
        "find . -type f -exec truncate -s 0 {} +",
        "for f in src/*.rs; do > \"$f\"; done",
        "git ls-files | while read f; do : > \"$f\"; done",
        "for f in $(git ls-files); do : > \"$f\"; done",
        "cp /dev/null *",
        "sed -i d src/*",
        "sed -i '1,$d' a.rs b.rs",
        "perl -i -ne '' src/*",
        "dd if=/dev/zero of=src/main.rs",
        "tee src/*.rs < /dev/null",
    ],
    #[cfg(test)]
    spares: &[
        "truncate -s 0 app.log",
        "find . -name '*.log' -exec truncate -s 0 {} +",
        "for f in *.log; do > \"$f\"; done",
        ": > src/new.rs",
        "sed -i '/debug/d' src/*.rs",
        "sed -i '1,5d' a.rs b.rs",
        "perl -pi -e 's/a/b/' src/*.rs",
        "dd if=/dev/urandom of=tests/random.bin bs=1k count=1",
        "for f in *.json; do jq . $f > $f.tmp; done",
        "truncate -s 10M a.img b.img",
    ],
};

/// Endings of files that are written from scratch each time.
const PASSING: [&str; 13] = [
    "log", "tmp", "temp", "bak", "orig", "out", "err", "pid", "cache", "swp", "rej", "trace",
    "prof",
];

/// Folders of what can be made again.
const MADE: [&str; 17] = [
    "target",
    "build",
    "dist",
    "out",
    "node_modules",
    "tmp",
    "temp",
    "log",
    "logs",
    "cache",
    ".cache",
    "coverage",
    "__pycache__",
    "__generated__",
    "generated",
    ".next",
    ".turbo",
];

/// Endings of sources, over which no one writes zeros for a purpose.
const SOURCES: [&str; 24] = [
    "rs", "py", "js", "ts", "tsx", "jsx", "go", "c", "h", "cpp", "hpp", "java", "md", "json",
    "yaml", "yml", "toml", "css", "html", "sh", "rb", "php", "kt", "swift",
];

/// A file that would lose what is in it.
struct Target<'a> {
    path: &'a str,
    /// Whether it means all of a list.
    listed: bool,
}

impl<'a> Target<'a> {
    fn new(word: &'a Arg) -> Target<'a> {
        Target {
            path: &word.text,
            listed: word.source.listed,
        }
    }
}

/// Whether a command empties many files, or writes zeros over a source.
pub(super) fn empties(subject: &Subject<'_>) -> bool {
    let targets = targets(subject);
    let mut ordinary = targets
        .iter()
        .filter(|target| !can_be_made_again(target.path, subject.facts.root.as_deref()));
    let many = ordinary.clone().any(|target| {
        let place = subject.place(target.path);
        match place {
            PathClass::Project | PathClass::Everything => true,
            PathClass::Free | PathClass::Sink => false,
            _ => target.listed || place == PathClass::Inside && target.path.contains(['*', '?']),
        }
    });
    if many {
        return true;
    }
    if matches!(subject.call.name.as_str(), "dd" | "dcfldd" | "gdd") {
        let end = |path: &str| {
            path::name(path)
                .rsplit_once('.')
                .map(|(_, end)| end.to_owned())
        };
        return ordinary
            .any(|target| end(target.path).is_some_and(|end| SOURCES.contains(&end.as_str())));
    }
    ordinary
        .filter(|target| subject.place(target.path) == PathClass::Inside)
        .count()
        > 1
}

/// Returns whether a path is of a kind that is written from scratch each time: logs, builds,
/// caches. The location of the project says nothing about that.
///
/// Pure: it goes by names alone, and such a folder may hold something else all the same.
pub fn can_be_made_again(path: &str, root: Option<&str>) -> bool {
    let inner = root.filter(|root| path::is_within(path, root));
    let path = inner.map_or(path, |root| &path[root.trim_end_matches('/').len()..]);
    let name = path::name(path);
    name.rsplit_once('.')
        .is_some_and(|(_, end)| PASSING.contains(&end))
        || path.split('/').any(|part| MADE.contains(&part))
}

fn targets<'a>(subject: &'a Subject<'_>) -> Vec<Target<'a>> {
    let call = subject.call;
    let mut all = Vec::new();
    if says_nothing(call) {
        let emptied = call.writes.iter().filter(|write| !write.appends);
        all.extend(emptied.map(|write| Target {
            path: &write.path,
            listed: write.listed,
        }));
    }
    let words = call.words.get(1..).unwrap_or_default();
    let operands = || words.iter().filter(|word| !word.text.starts_with('-'));
    match call.name.as_str() {
        "truncate" => {
            let mut size = false;
            let mut to_zero = false;
            let mut named = Vec::new();
            for word in words {
                let text = word.text.as_str();
                let given = text
                    .strip_prefix("--size=")
                    .or_else(|| text.strip_prefix("-s").filter(|rest| !rest.is_empty()))
                    .or_else(|| size.then_some(text));
                to_zero |= given.is_some_and(|size| {
                    size.trim_start_matches(['=', '<'])
                        .trim_matches(['K', 'M', 'G', 'B'])
                        == "0"
                });
                if given.is_none() && !text.starts_with('-') {
                    named.push(Target::new(word));
                }
                size = matches!(text, "-s" | "--size");
            }
            all.extend(named.into_iter().filter(|_| to_zero));
        }
        "cp" | "gcp" | "install" => {
            let mut named = operands();
            if named.next().is_some_and(|from| from.text == "/dev/null") {
                all.extend(named.map(Target::new));
            }
        }
        "tee" | "sponge" => {
            let appends = words
                .iter()
                .any(|word| matches!(word.text.as_str(), "-a" | "--append"));
            let nothing = call
                .input
                .as_ref()
                .is_some_and(|input| input.text.trim().is_empty());
            all.extend(operands().filter(|_| nothing && !appends).map(Target::new));
        }
        "dd" | "dcfldd" | "gdd" => {
            let given = |name: &str| words.iter().find_map(|word| word.text.strip_prefix(name));
            let from = given("if=").unwrap_or("");
            if matches!(
                from,
                "/dev/zero" | "/dev/null" | "/dev/urandom" | "/dev/random"
            ) {
                all.extend(given("of=").map(|path| Target {
                    path,
                    listed: false,
                }));
            }
        }
        "sed" | "gsed" => all.extend(emptied_by_sed(&call.words)),
        "perl" => all.extend(emptied_by_perl(words)),
        _ => {}
    }
    all
}

/// Whether a command writes nothing, or no more than a line's end.
fn says_nothing(call: &Call) -> bool {
    let words = call.words.get(1..).unwrap_or_default();
    match call.name.as_str() {
        "" => call.words.is_empty(),
        ":" | "true" | "false" => true,
        "echo" => words
            .iter()
            .all(|word| matches!(word.text.trim(), "" | "-n" | "-e" | "-ne" | "-en")),
        "printf" => words
            .iter()
            .all(|word| matches!(word.text.as_str(), "" | "\\n" | "%s")),
        "cat" => !words.is_empty() && words.iter().all(|word| word.text == "/dev/null"),
        _ => false,
    }
}

/// Returns the files in which `sed -i` deletes every line, by all its words.
fn emptied_by_sed(words: &[Arg]) -> Vec<Target<'_>> {
    let sed = Sed::read(words);
    let deletes = |script: &&str| {
        let plain: String = script.chars().filter(|c| !c.is_whitespace()).collect();
        matches!(
            plain.as_str(),
            "d" | "1,$d" | "0,$d" | "/./d" | "/.*/d" | "/^/d" | "{d}"
        ) || sed.quiet && !script.contains(['p', 'w', 'P', 'l', '='])
    };
    if sed.in_place && sed.scripts.iter().any(deletes) {
        sed.files.into_iter().map(Target::new).collect()
    } else {
        Vec::new()
    }
}

/// The files that `perl -i -n` reads and writes nothing back to.
fn emptied_by_perl(words: &[Arg]) -> Vec<Target<'_>> {
    let short = |letter: char| {
        move |word: &Arg| {
            let text = word.text.as_str();
            text.starts_with('-') && text.len() <= 6 && text.contains(letter)
        }
    };
    let reads = words.iter().any(short('i')) && words.iter().any(short('n'));
    if !reads || words.iter().any(short('p')) {
        return Vec::new();
    }
    let Some(at) = words.iter().position(short('e')) else {
        return Vec::new();
    };
    let prints = words
        .get(at + 1)
        .is_none_or(|code| code.text.contains("print") || code.text.contains("say"));
    let files = words.get(at + 2..).unwrap_or_default();
    files.iter().filter(|_| !prints).map(Target::new).collect()
}
