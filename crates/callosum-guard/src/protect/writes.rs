//! The paths that a command would write or delete. What goes from one place to another is in `transfer`.

use super::{
    mode,
    transfer::{copied, moved},
    writer::{OUTPUT, Part, Reach, WRITERS, Writer, Written, operands},
};
use crate::{
    analyze::{Call, Subject, Unpacked, Write},
    facts::Facts,
    fetch, glob, patch, path,
    path_class::{self, PathClass},
    sed::Sed,
};

/// The paths that a command would write or delete.
pub(crate) fn writes(call: &Call, facts: &Facts) -> Vec<Written> {
    let mut all: Vec<Written> = call
        .writes
        .iter()
        .map(|Write { path, .. }| (path.clone(), Reach::Anywhere))
        .collect();
    if call.words.is_empty() || call.name.is_empty() {
        return all;
    }
    let mut known = false;
    for writer in WRITERS {
        if writer.names.split(' ').any(|name| name == call.name) {
            known = true;
            by_table(writer, call, facts, &mut all);
        }
    }
    if let Some(unpacked) = Unpacked::from_call(call, facts) {
        let within = unpacked.within.iter();
        // What is named in an archive may be a file as well.
        all.extend(within.flat_map(|folder| {
            [folder.clone(), format!("{folder}/*")].map(|path| (path, Reach::Protected))
        }));
    }
    match call.name.as_str() {
        "chmod" | "gchmod" => opened(call, facts, &mut all),
        "cp" | "install" | "ln" | "rsync" | "scp" | "gcp" | "gln" | "ditto" => {
            copied(call, facts, &mut all);
        }
        "mv" | "gmv" => moved(call, facts, &mut all),
        "sed" | "gsed" => {
            let sed = Sed::read(&call.words);
            let files = sed.files.iter().filter(|_| sed.in_place);
            all.extend(files.map(|word| (word.text.clone(), Reach::Anywhere)));
        }
        "perl" | "ruby" | "awk" | "gawk" => edited_in_place(call, facts, &mut all),
        "dd" | "gdd" | "dcfldd" => {
            let mut words = call.words.iter();
            let to = words.find_map(|word| word.text.strip_prefix("of="));
            // A shell takes it for the value of a variable, in which `~` is the home.
            let home = facts.home.as_deref();
            let at_home = |to: &str| Some(format!("{}{}", home?, to.strip_prefix('~')?));
            all.extend(to.map(|to| (at_home(to).unwrap_or(to.to_owned()), Reach::Anywhere)));
        }
        "tar" | "gtar" | "bsdtar" => archived(call, facts, &mut all),
        "vim" | "vi" | "nvim" | "ex" | "ed" | "view" => edited(call, facts, &mut all),
        "sqlite3" => queried(call, facts, &mut all),
        "script" => typed(call, facts, &mut all),
        "apply_patch" | "applypatch" | "patch" | "git" => patched(call, facts, &mut all),
        name => match fetch::fetched(name, &call.words[1..]) {
            Some(fetched) => {
                let files = fetched.files.into_iter().chain(fetched.beside);
                all.extend(files.map(|path| (path, Reach::Anywhere)));
            }
            None if !known => {
                let subject = Subject::new(call, OUTPUT, facts);
                let values = OUTPUT.split(' ').flat_map(|option| subject.values(option));
                all.extend(values.map(|path| (path.to_owned(), Reach::Protected)));
            }
            None => {}
        },
    }
    // The repository of a clone that the same command has made holds no work yet.
    let is_made = |path: &str| {
        let mut words = call.words.iter();
        words.any(|word| word.source.made && word.text == path)
    };
    all.retain(|(path, _)| call.name != "rm" || !is_made(path));
    let journals = puts_aside_records(call, facts)
        || all
            .iter()
            .any(|(path, _)| takes_journals(path, call, facts));
    let root = facts.root.iter().filter(|_| journals);
    all.extend(root.map(|root| (format!("{root}/cal_audit"), Reach::Whole)));
    all
}

/// Whether git stashes the records of this program along with other untracked files:
/// `git stash -u`.
fn puts_aside_records(call: &Call, facts: &Facts) -> bool {
    if call.name != "git" || !facts.initialised {
        return false;
    }
    let subject = Subject::new(call, "", facts);
    let puts = matches!(
        (subject.operand(0), subject.operand(1)),
        ("stash", "push" | "save" | "")
    );
    // `git stash push -u -- src`
    let is_part = subject.operand(1) == "push" && !matches!(subject.operand(2), "" | "." | ":/");
    let with_ignored = subject.has("-a") || subject.has("--all");
    let with_others = subject.has("-u") || subject.has("--include-untracked");
    puts && !is_part && (with_ignored || with_others && !facts.ignored)
}

/// Whether a pattern that goes through all folders takes in our journals, which stand in one of them.
fn takes_journals(path: &str, call: &Call, facts: &Facts) -> bool {
    const A_DAY: &str = "2026-01-02.jsonl";
    let (folder, last) = path.rsplit_once('/').unwrap_or((".", path));
    let (folder, is_deep) = match folder.split_once("**") {
        Some((before, _)) => (before.trim_end_matches('/'), true),
        // The paths that `find` lists begin with the folder that it searches.
        None => (
            folder,
            path.contains('/') && ["find", "xargs"].iter().any(|by| call.via.starts_with(by)),
        ),
    };
    let folder = if folder.is_empty() { "." } else { folder };
    let at = path::absolute(folder, call.cwd.as_deref());
    let mut root = facts.root.iter();
    facts.initialised
        && is_deep
        && glob::matches(last, A_DAY)
        && !glob::takes_all(last)
        && root.any(|root| path::is_within(root, &at))
}

/// Adds the writes of a command by a row of the table.
pub(super) fn by_table(writer: &Writer, call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(call, writer.takes, facts);
    let verb = subject.operand(0);
    if !writer.verbs.is_empty() && writer.verbs.split(' ').all(|one| one != verb) {
        return;
    }
    // Options of one dash and several letters are words of their own.
    let has = |option: &str| {
        if option.starts_with('-') && !option.starts_with("--") && option.len() > 2 {
            call.words.iter().any(|word| word.text == option)
        } else {
            subject.has(option)
        }
    };
    let mut without = writer
        .without
        .split(' ')
        .filter(|option| !option.is_empty());
    let mut with = writer.with.split(' ').filter(|option| !option.is_empty());
    if without.any(has) || !writer.with.is_empty() && !with.any(has) {
        return;
    }
    let mut add = |path: &str| all.push((path.to_owned(), writer.reach));
    for part in writer.parts {
        match part {
            Part::Value(options) => {
                for option in options.split(' ') {
                    if option.starts_with("--") || option.len() == 2 {
                        subject.values(option).for_each(&mut add);
                    } else {
                        named_by(call, option).for_each(&mut add);
                    }
                }
            }
            Part::From(from) => {
                operands(&subject).skip(*from).for_each(&mut add);
            }
            Part::Sources(from) => {
                let sources: Vec<&str> = operands(&subject).skip(*from).collect();
                let count = sources.len().saturating_sub(1);
                sources.into_iter().take(count).for_each(&mut add);
            }
            Part::At(at) => operands(&subject).nth(*at).into_iter().for_each(&mut add),
            Part::Last(least) => {
                let last = operands(&subject).next_back();
                let here = last.filter(|path| !path.contains(':'));
                here.filter(|_| subject.operands.len() >= *least)
                    .into_iter()
                    .for_each(&mut add);
            }
            Part::Unpacked(ending) => {
                for path in operands(&subject) {
                    add(path.strip_suffix(ending).unwrap_or(path));
                }
            }
        }
    }
}

/// The values of a long option with one dash: `-out x`, `-out=x`.
fn named_by<'a>(call: &'a Call, option: &'a str) -> impl Iterator<Item = &'a str> {
    let next = call
        .words
        .windows(2)
        .filter(move |pair| pair[0].text == option)
        .map(|pair| pair[1].text.as_str());
    let same = call
        .words
        .iter()
        .filter_map(move |word| word.text.strip_prefix(option)?.strip_prefix('='));
    next.chain(same)
}

/// The paths whose mode is changed.
fn opened(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(call, "--reference", facts);
    let mode = mode::requested_mode(&call.words).filter(|_| !subject.has("--reference"));
    let from = usize::from(mode.is_some_and(|mode| !mode.starts_with('-')));
    for (word, _) in subject.operands.iter().skip(from) {
        let leaves = mode.is_some_and(|mode| {
            mode::leaves(mode, &path::absolute(&word.text, call.cwd.as_deref()))
        });
        let reach = if leaves { Reach::Rights } else { Reach::Whole };
        all.push((word.text.clone(), reach));
    }
}

fn edited_in_place(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let is_awk = call.name.ends_with("awk");
    let in_place = call.words.iter().skip(1).any(|word| {
        let text = word.text.as_str();
        text == "inplace"
            || text.starts_with("-i")
            || text.starts_with('-')
                && !text.starts_with("--")
                && text.len() <= 5
                && text.contains('i')
                && !is_awk
    });
    if in_place {
        let subject = Subject::new(call, "-e -o -r -m -I -M", facts);
        let files = subject.operands.iter();
        all.extend(files.map(|(word, _)| (word.text.clone(), Reach::Anywhere)));
    }
}

/// Adds an archive if one is made, a folder if one is unpacked.
fn archived(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(call, "-f -C --file --directory --exclude -T -X", facts);
    // `tar xzf FILE`: the letters may stand without a dash.
    let letters = call.words.get(1).map_or("", |word| word.text.as_str());
    let letters = if letters.starts_with('-') {
        ""
    } else {
        letters
    };
    let does = |short: char, long: &str| {
        letters.contains(short) || subject.has(&format!("-{short}")) || subject.has(long)
    };
    if does('x', "--extract") || subject.has("--get") {
        let folders = ["-C", "--directory"];
        let folders = folders.iter().flat_map(|option| subject.values(option));
        all.extend(folders.map(|to| (to.to_owned(), Reach::Protected)));
    } else if does('c', "--create") || does('r', "--append") || does('u', "--update") {
        let file = subject.value("-f").or_else(|| subject.value("--file"));
        let bare = letters.contains('f').then(|| subject.operand(1));
        all.extend(
            file.or(bare)
                .map(|file| (file.to_owned(), Reach::Protected)),
        );
    }
}

/// The file that an editor is given commands for, and those that the commands name.
fn edited(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(call, "-c -S -u -i --cmd", facts);
    let has_commands = call.words.iter().skip(1).any(|word| {
        matches!(
            word.text.as_str(),
            "-c" | "-es" | "-s" | "-S" | "-sc" | "-esc"
        ) || word.text.starts_with("+:")
    });
    if has_commands || matches!(call.name.as_str(), "ed" | "ex") {
        let files = operands(&subject).filter(|text| !text.starts_with('+'));
        all.extend(files.map(|path| (path.to_owned(), Reach::Anywhere)));
    }
    let input = call.input.as_ref().map(|input| input.text.as_str());
    let texts = call.words.iter().skip(1).map(|word| word.text.as_str());
    for command in texts.chain(input).flat_map(|text| text.split(['\n', '|'])) {
        let command =
            command.trim_start_matches(|c: char| c.is_ascii_digit() || "+:,%$ ".contains(c));
        let mut words = command.split_whitespace();
        let verb = words.next().unwrap_or("").trim_end_matches('!');
        if matches!(
            verb,
            "w" | "W" | "wq" | "write" | "x" | "sav" | "saveas" | "up" | "update"
        ) {
            let to = words.next().map(|to| to.trim_start_matches('>'));
            let to = to.filter(|to| !to.is_empty() && !to.starts_with('!'));
            all.extend(to.map(|to| (to.to_owned(), Reach::Anywhere)));
        }
    }
}

/// Adds the database if a statement changes it, and the files that the client's own commands name.
fn queried(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    const CHANGES: [&str; 9] = [
        "insert", "update", "delete", "create", "drop", "alter", "replace", "vacuum", "reindex",
    ];
    let subject = Subject::new(call, "-cmd -init -separator -nullvalue", facts);
    let input = call.input.as_ref().map(|input| input.text.as_str());
    let texts = subject
        .operands
        .iter()
        .skip(1)
        .map(|(word, _)| word.text.as_str());
    let texts: Vec<&str> = texts.chain(input).collect();
    let changes = |text: &&str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| CHANGES.iter().any(|verb| word.eq_ignore_ascii_case(verb)))
    };
    if texts.iter().any(changes) {
        all.push((subject.operand(0).to_owned(), Reach::Protected));
    }
    for line in texts.iter().flat_map(|text| text.lines()) {
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap_or("");
        if matches!(
            verb,
            ".output" | ".once" | ".backup" | ".save" | ".clone" | ".log" | ".dump"
        ) {
            let to = words.next_back().filter(|_| verb != ".dump");
            all.extend(to.map(|to| (to.trim_matches(['"', '\'']).to_owned(), Reach::Protected)));
        }
    }
}

/// The record of what is typed, which is the operand of `script`.
fn typed(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(
        call,
        "-c --command -I -O -B -T --log-in --log-out --log-io --log-timing -m -o",
        facts,
    );
    let logs = [
        "-O",
        "-B",
        "-I",
        "-T",
        "--log-out",
        "--log-io",
        "--log-in",
        "--log-timing",
    ];
    let logs = logs.iter().flat_map(|option| subject.values(option));
    all.extend(
        logs.chain(operands(&subject).next())
            .map(|path| (path.to_owned(), Reach::Anywhere)),
    );
}

/// Adds the files that a patch names, and those that git writes to by an option.
fn patched(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(
        call,
        "-C -c -f --file --blob --type --git-dir --work-tree -o --output -i --input -d --directory -p -D -r",
        facts,
    );
    let mut paths = Vec::new();
    match (call.name.as_str(), subject.operand(0)) {
        ("git", "apply" | "am") if !subject.has("--check") => {
            paths = patch::paths_of_diff(&patch_text(call));
        }
        ("git", "config") => {
            let changes = subject.operands.len() > 2
                || [
                    "--unset",
                    "--add",
                    "--replace-all",
                    "--remove-section",
                    "--rename-section",
                    "-e",
                    "--edit",
                ]
                .iter()
                .any(|option| subject.has(option));
            let reads = subject.has("--get") || subject.has("--get-all") || subject.has("--list");
            let file = subject.value("-f").or_else(|| subject.value("--file"));
            // That of a repository is git's own to write.
            let file = file.filter(|file| changes && !reads && !file.ends_with(".git/config"));
            all.extend(file.map(|file| (file.to_owned(), Reach::Anywhere)));
        }
        // What is cloned brings settings of its own.
        ("git", "clone") => {
            let to = operands(&subject).skip(2).last();
            let to = to.filter(|to| !to.contains(':')).map(str::to_owned);
            let in_system = |to: &String| {
                let place = path_class::place(to, call.cwd.as_deref(), facts);
                matches!(place, PathClass::System | PathClass::Vital)
            };
            all.extend(to.filter(|to| !in_system(to)).map(|to| (to, Reach::Whole)));
        }
        ("git", _) => {}
        ("patch", first) => {
            if subject.has("--dry-run") {
                return;
            }
            let to = ["-o", "--output"]
                .iter()
                .find_map(|option| subject.value(option));
            let to = to.or(Some(first).filter(|first| !first.is_empty()));
            let folder = ["-d", "--directory"]
                .iter()
                .find_map(|option| subject.value(option));
            let mut files = patch::paths_of_diff(&patch_text(call));
            files.extend(to.map(str::to_owned));
            if files.is_empty() {
                // Files of any name, as a patch that is not seen says.
                files.push("\u{2026}".to_owned());
            }
            let within = |file: String| match folder {
                Some(folder) if !file.starts_with('/') => format!("{folder}/{file}"),
                _ => file,
            };
            paths.extend(files.into_iter().map(within));
            paths.extend(folder.map(str::to_owned));
        }
        _ => paths = patch::paths(&patch_text(call)),
    }
    all.extend(paths.into_iter().map(|path| (path, Reach::Anywhere)));
}

/// The patch that a command is given: what comes in, or a word of several lines.
pub(crate) fn patch_text(call: &Call) -> String {
    let words = call.words.iter().skip(1).map(|word| word.text.as_str());
    let input = call.input.as_ref().map(|input| input.text.as_str());
    let texts: Vec<&str> = words
        .filter(|word| word.contains('\n'))
        .chain(input)
        .collect();
    texts.join("\n")
}
