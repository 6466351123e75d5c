//! Lists of files, tags, images and keys: the programs that print the whole tree, the uncommitted
//! files or every tag. The filters that pick some out of such a list are in `line_filters`.
//!
//! Whether an item was picked cannot be known, only whether the command meant to: a list that was
//! cut, sorted or had lines taken out is still everything but something.

use super::{
    evaluator::Evaluator,
    value::{Arg, SOME, Source, Value},
    wrapper_table::first_operand,
};
use crate::path_class::{self, PathClass};

/// A list of files of the tree as it is, or as git sees it.
pub(super) const LISTED: Source = Source {
    remote: false,
    decoded: false,
    secret: false,
    entire: false,
    holds: false,
    listed: true,
    refs: false,
    named: false,
    of_user: false,
    of_kind: false,
    ours: false,
    parent: false,
    parent_column: 0,
    changes: false,
    undoing: false,
    gone: false,
    made: false,
    file: false,
    found: false,
    each: false,
    within: false,
};

impl Evaluator<'_> {
    /// Whether a folder contains the project, or more than that.
    pub(super) fn is_tree(&self, folder: &str) -> bool {
        let place = path_class::place(folder, self.state.cwd.as_deref(), self.facts);
        matches!(
            place,
            PathClass::Project | PathClass::Vital | PathClass::MaybeVital | PathClass::Everything
        )
    }

    /// Whether a folder is the project or is in it.
    pub(super) fn is_inside(&self, folder: &str) -> bool {
        let place = path_class::place(folder, self.state.cwd.as_deref(), self.facts);
        matches!(place, PathClass::Project | PathClass::Inside)
    }

    /// Returns the output of `rg --files`, `fd` and `tree`, if it lists all files.
    pub(super) fn listing(&self, name: &str, words: &[Arg]) -> Option<Value> {
        let all = words.get(1..).unwrap_or_default();
        let lists = match name {
            "rg" => {
                let picks = |word: &Arg| matches!(word.text.as_str(), "-g" | "--glob" | "-t");
                all.iter().any(|word| word.text == "--files") && !all.iter().any(picks)
            }
            "tree" => all
                .iter()
                .any(|word| word.text.starts_with('-') && word.text.contains('i')),
            "docker" | "podman" | "nerdctl" => {
                let images = || lists_every_image(all).then(|| Value::from(LISTED));
                return listed_containers(all).or_else(images);
            }
            "redis-cli" | "valkey-cli" | "keydb-cli" => return keys_listed(all),
            "eza" | "exa" | "lsd" => {
                let picks = |word: &Arg| word.text.contains('*');
                !all.iter().any(picks)
            }
            _ => false,
        };
        let at = first_operand(words, 1, "-L -P -I");
        let folder = words.get(at).map_or(".", |word| word.text.as_str());
        (lists && self.is_tree(folder)).then(|| Value::from(LISTED))
    }

    /// Returns the output of `grep -l`: names of files in the folders that it is given. These are
    /// all files of the tree if every line matches, or those in which none does.
    pub(super) fn matching(&self, name: &str, words: &[Arg]) -> Option<Value> {
        const TAKES: &str = "-e -f -m -A -B -C -g -t -T --regexp --file --max-count --include --exclude --exclude-dir --glob --type";
        if !matches!(name, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack") {
            return None;
        }
        let has = |letter: char, names: &[&str]| {
            words.iter().skip(1).any(|word| {
                let text = word.text.as_str();
                let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                names.contains(&text) || short.is_some_and(|letters| letters.contains(letter))
            })
        };
        let lists = has('l', &["--files-with-matches"])
            || has('L', &["--files-without-match"]) && name != "rg";
        let is_deep = !name.ends_with("grep") || has('r', &["--recursive"]) || has('R', &[]);
        if !lists || !is_deep {
            return None;
        }
        let mut at = first_operand(words, 1, TAKES);
        let pattern = words.get(at).map_or("", |word| word.text.as_str());
        if !has('e', &["--regexp"]) && !has('f', &["--file"]) {
            at = first_operand(words, at + 1, TAKES);
        }
        let folders = words.get(at..).filter(|folders| !folders.is_empty())?;
        let folders = folders.iter().filter(|word| !word.text.starts_with('-'));
        let takes_all =
            has('L', &["--files-without-match"]) || matches!(pattern, "" | "." | "^" | "$");
        if takes_all && folders.clone().any(|folder| self.is_tree(&folder.text)) {
            return Some(Value::from(LISTED));
        }
        let lines = folders.map(|word| format!("{}/{SOME}\n", word.text.trim_end_matches('/')));
        Some(Value::known(lines.collect::<String>()))
    }

    /// Returns the files of the tree that git lists.
    pub(super) fn git_listing(&self, verb: &str, rest: &[Arg]) -> Option<Value> {
        let has = |options: &[&str]| {
            rest.iter()
                .any(|word| options.contains(&word.text.as_str()))
        };
        let short = |letter: char| {
            rest.iter().any(|word| {
                word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && word.text.contains(letter)
            })
        };
        let lists = match verb {
            // What was deleted is not there any more; what is ignored can be made again.
            "ls-files" => {
                !has(&["--deleted", "--ignored"]) && !short('d') && !short('i') && !picks(rest)
            }
            "status" => has(&["--short", "--porcelain", "--porcelain=v1"]) || short('s'),
            "diff" | "show" | "log" | "diff-index" | "diff-files" | "diff-tree" => {
                has(&["--name-only", "--name-status"]) && !has(&["--diff-filter=D"]) && !picks(rest)
            }
            "ls-tree" => has(&["--name-only", "--name-status"]) && !picks(rest),
            // The tree that is worked in comes first.
            "worktree" => rest.first().is_some_and(|word| word.text == "list"),
            "clean" => short('n') || has(&["--dry-run"]),
            _ => false,
        };
        (lists && self.is_tree(".")).then(|| Value::from(LISTED))
    }
}

/// Whether `docker images -q` or `docker image ls -q` with these words prints every image.
fn lists_every_image(words: &[Arg]) -> bool {
    let mut words = words.iter().map(|word| word.text.as_str());
    let is_listing = match words.next() {
        Some("images") => true,
        Some("image") => matches!(words.next(), Some("ls" | "list")),
        _ => false,
    };
    is_listing
        && words.all(|word| match word.strip_prefix('-') {
            Some("-quiet" | "-all" | "-no-trunc") => true,
            Some(letters) => !letters.is_empty() && letters.chars().all(|c| "qa".contains(c)),
            None => false,
        })
}

/// Returns the output of `docker ps` with these words: every container, or some that are named or
/// were made last. Of other commands that print such names: the container that `docker run -d`
/// made, and the volumes of a name.
fn listed_containers(words: &[Arg]) -> Option<Value> {
    let words = words
        .get(first_operand(words, 0, "-H -c -l --host --context --config --log-level")..)
        .unwrap_or_default();
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let made = || Value {
        text: SOME.to_string(),
        source: Source {
            made: true,
            ..Source::default()
        },
    };
    let options = match texts.as_slice() {
        ["container", "ls" | "list" | "ps", options @ ..] | ["ps", options @ ..] => options,
        ["container", "create", ..] | ["create", ..] => return Some(made()),
        ["container", "run", options @ ..] | ["run", options @ ..] => {
            let is_apart = |option: &&str| {
                *option == "--detach" || letters(option).is_some_and(|all| all.contains('d'))
            };
            let mut options = options.iter().take_while(|word| word.starts_with('-'));
            return options.any(is_apart).then(made);
        }
        ["volume", "ls" | "list", options @ ..] => {
            return named_by_filter(options);
        }
        _ => return None,
    };
    let is_of_last = |option: &&str| match letters(option) {
        Some(letters) => {
            let joined = letters.split(['f', '=']).next();
            joined.is_some_and(|joined| joined.contains(['l', 'n']))
        }
        None => option.starts_with("--last") || *option == "--latest",
    };
    let is_narrow = options.iter().any(is_of_last) || filters(options).any(names_containers);
    Some(if is_narrow {
        named_by_filter(options).unwrap_or_else(Value::filled)
    } else {
        Value::from(LISTED)
    })
}

/// The letters of short options that are joined in a word.
fn letters(option: &str) -> Option<&str> {
    option
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))
}

/// Lists the filters of `docker ps` and its like: `-f x`, `-qf x`, `--filter=x`.
fn filters<'w>(options: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    options.iter().enumerate().filter_map(|(at, option)| {
        let joined = match letters(option) {
            Some(letters) => letters.split_once('f').map(|(_, rest)| rest),
            None => option.strip_prefix("--filter"),
        };
        match joined {
            Some("") => options.get(at + 1).copied(),
            joined => joined.map(|joined| joined.trim_start_matches('=')),
        }
    })
}

/// Names that hold what a filter asks of them.
fn named_by_filter(options: &[&str]) -> Option<Value> {
    let name = filters(options).find_map(|filter| filter.strip_prefix("name="))?;
    let name = name.trim_matches(['^', '$', '/']);
    Some(Value::known(format!("{SOME}{name}{SOME}\n")))
}

/// Whether a filter of `docker ps` names some containers, or takes only those that do not run: those `prune` takes as well.
fn names_containers(filter: &str) -> bool {
    let Some((kind, value)) = filter.split_once('=') else {
        return false;
    };
    match kind {
        "status" => matches!(value, "exited" | "created" | "dead"),
        "exited" => true,
        "name" | "label" | "ancestor" | "id" | "network" | "volume" | "publish" | "expose"
        | "before" | "since" | "pod" => value.contains(|c: char| c.is_alphanumeric() || c == SOME),
        _ => false,
    }
}

/// Returns the output of `redis-cli --scan` or `redis-cli keys PATTERN` with these words: every
/// key, or those that begin or end as the pattern does.
fn keys_listed(words: &[Arg]) -> Option<Value> {
    let behind = |wanted: &str| {
        let at = words
            .iter()
            .position(|word| word.text.eq_ignore_ascii_case(wanted))?;
        words.get(at + 1).map(|word| word.text.as_str())
    };
    let scans = words.iter().any(|word| word.text == "--scan");
    let pattern = match behind("keys") {
        Some(pattern) => pattern,
        None if scans => behind("--pattern").unwrap_or("*"),
        None => return None,
    };
    if pattern.chars().all(|c| matches!(c, '*' | '?')) {
        return Some(Value::from(LISTED));
    }
    let some = SOME.to_string();
    let text = pattern.replace(['*', '?', '[', ']'], &some);
    Some(Value::known(text + "\n"))
}

/// Whether `git tag` with these words prints every tag.
pub(super) fn lists_every_tag(rest: &[Arg]) -> bool {
    const PICKS: [&str; 6] = [
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "-d",
    ];
    rest.iter().all(|word| {
        let option = word.text.split('=').next().unwrap_or("");
        option.starts_with('-') && !PICKS.contains(&option)
    })
}

/// Whether a pattern among the words picks files by their ending.
fn picks(words: &[Arg]) -> bool {
    words.iter().any(|word| {
        let text = word.text.as_str();
        !text.starts_with('-')
            && text.contains('*')
            && !text.trim_matches(['*', '.', '/']).is_empty()
    })
}
