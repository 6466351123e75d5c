//! The dangerous commands of the corpus, run by a real bash in a world of stubs.
//!
//! The world is a folder with bash, a few harmless programs, and stubs in the place of all
//! others, which write down how they were called. It is entered by way of namespaces of its own
//! (user, mount, processes, network) and a changed root: where that cannot be had, nothing is run.
//! A row is proven where the call that the guard names was really made.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what a test cannot unwrap has failed; the world is laid out and entered with the standard library"
)]

mod interpreters;
mod rows;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, SystemTime},
};

use callosum_guard::{Decision, Policy, decide};

use crate::rows::{Row, facts, rows};

/// Programs that are there as they are: they run others, or make text.
const REAL: &[&str] = &[
    "env", "nice", "ionice", "nohup", "setsid", "timeout", "xargs", "find", "base64", "tr", "rev",
    "cat", "dirname", "basename", "seq", "head", "tail", "sed", "awk", "sort", "ls", "mktemp",
    "tee", "flock", "taskset", "xxd", "grep", "touch", "time", "chrt", "uniq",
];

/// Programs that write down how they were called, and run, where the machine has them: rows that need one stand in
/// `unproven.txt` under a head that names it, and are proven where it is there.
const REAL_WHERE_THERE: &[&str] = &["make", "dash", "python3", "perl", "node"];

/// What is never run, world or not: it would only stand still or fill the machine.
fn is_left_out(row: &Row, rule: &str) -> bool {
    rule == "shell.fork-bomb"
        // What is not known cannot be shown.
        || rule == "shell.unknown-script"
        || rule.starts_with("protect.")
        // What runs beside is not waited for.
        || row.command.trim_end().ends_with('&')
        || row.command.contains(">(")
        || row.command.starts_with("coproc")
        // `find` deletes by itself, and would take the stubs with it.
        || row.command.contains("-delete")
        || row.command.contains("/dev/urandom")
        || row.command.contains("yes |")
        || row.command.starts_with("while rm")
        || row.command.starts_with("until false")
}

/// The words of a subject as the guard shows it.
fn words(subject: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    let mut letters = subject.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => quoted = !quoted,
            '\\' if !quoted => words.last_mut().unwrap().extend(letters.next()),
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}

/// Where the machine has a program.
fn installed(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/bin"];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(program));
    paths.find(|path| path.exists())
}

/// Puts a program into a folder of the world, with the libraries that it needs.
fn bring(root: &Path, folder: &str, program: &str) {
    let Some(path) = installed(program) else {
        return;
    };
    fs::copy(&path, root.join(folder).join(program)).unwrap();
    let listed = Command::new("ldd").arg(&path).output().unwrap();
    for library in String::from_utf8_lossy(&listed.stdout)
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
    {
        let to = root.join(&library[1..]);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        if !to.exists() {
            fs::copy(library, to).unwrap();
        }
    }
}

fn world(root: &Path, stubs: &BTreeSet<String>) {
    for folder in [
        "bin",
        "usr/bin",
        "real",
        "log",
        "dev",
        "skeleton/tmp",
        "skeleton/etc",
        "skeleton/var/lib",
        "skeleton/home/u/p/src",
        "skeleton/home/u/p/sub",
        "skeleton/home/u/p/target",
        "skeleton/root",
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    bring(root, "bin", "bash");
    symlink("bash", root.join("bin/sh")).unwrap();
    for program in REAL {
        bring(root, "bin", program);
    }
    for program in ["cp", "rm"] {
        bring(root, "real", program);
    }
    // A call is written at once: the programs of a pipe append to the log side by side.
    let stub = "#!/bin/bash -p\nprintf -v call '%s\\037' \"${0##*/}\" \"$@\"\nprintf '%s\\036' \"$call\" >> /log/calls\n";
    let stand = |name: &str, text: &str| {
        let path = root.join("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(format!("/bin/{name}"), root.join("usr/bin").join(name)).unwrap();
    };
    for program in REAL_WHERE_THERE {
        bring(root, "real", program);
        if let Some(path) = installed(program) {
            interpreters::furnish(root, program, &path);
            let text = interpreters::stand_in(program, stub);
            stand(program, &text);
            if let Some(name) = interpreters::other_name(program) {
                stand(name, &text);
            }
        }
    }
    for name in stubs {
        let plain = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if plain && !name.starts_with('.') && !root.join("bin").join(name).exists() {
            stand(name, stub);
        }
    }
    for program in REAL.iter().chain(&["bash"]) {
        let link = root.join("usr/bin").join(program);
        if !link.exists() {
            symlink(format!("/bin/{program}"), link).unwrap();
        }
    }
    fs::write(root.join("skeleton/home/u/p/a.rs"), "").unwrap();
    fs::write(root.join("dev/null"), "").unwrap();
    fs::write(root.join("inside"), "").unwrap();
    fs::write(root.join("stamp"), "").unwrap();
    // Young enough for rows that pick out what was worked on lately.
    let now = SystemTime::now();
    date(&root.join("skeleton"), now - Duration::from_secs(20));
    set_time(&root.join("stamp"), now - Duration::from_secs(10));
}

/// Dates a folder and all that is in it.
fn date(folder: &Path, time: SystemTime) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            date(&entry.path(), time);
        } else {
            set_time(&entry.path(), time);
        }
    }
    set_time(folder, time);
}

fn set_time(path: &Path, time: SystemTime) {
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

/// Runs a script in the world, and in no other place.
///
/// `unshare` and `chroot` each end without running anything where they do not succeed.
fn within(root: &Path, script: &str) -> std::io::Result<std::process::Output> {
    Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "--pid",
            "--net",
            "--ipc",
            "--uts",
            "--fork",
            "--kill-child",
        ])
        .arg("chroot")
        .arg(root)
        .args(["/bin/bash", script])
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", "/home/u")
        .stdin(Stdio::null())
        .output()
}

/// How the script begins that runs the rows. It is process 1 of its namespace, or does nothing: what
/// it waits for after each row, and then ends, is everything else. The bounds hold for each row, not
/// for the script, which takes as long as a slow machine needs. Before each row all that one may have
/// written is made anew, so that none is proven by what another left behind: where nothing was, the shell
/// sees that by itself, since a name that comes or goes changes its folder's time, and a content its
/// file's, and all of the skeleton is older than `/stamp`. `/dev/null` is a file here, so a shell that read
/// from it would read, without end, what it says itself.
const DRIVER: &str = r#"[ $$ = 1 ] && [ -e /inside ] || exit 1
export HOME=/home/u PATH=/bin:/usr/bin
shopt -s globstar dotglob nullglob
is_fresh() {
    local path
    for path in /home /tmp /etc /var /root; do
        [ -d $path ] || return 1
    done
    for path in {/home,/tmp,/etc,/var,/root}/**; do
        [ "$path" -nt /stamp ] && return 1
    done
}
fresh() {
    cd /
    if ! is_fresh; then
        /real/rm -rf /home /tmp /etc /var /root
        /real/cp -a /skeleton/. /
    fi
    : > /dev/null
    cd /home/u/p
}
row() {
    fresh
    printf '\035%s\036' "$1" >> /log/calls
    (
        ulimit -f 2048 -t 5
        exec timeout 60 /bin/bash -c "$(</rows/"$1")"
    ) >/dev/null 2>&1 </inside
    for ((n = 0; n < 100; n++)); do
        kill -0 -1 2>/dev/null || return
        timeout 0.02 tail -f /inside
    done
    kill -9 -1
    wait
}
"#;

/// Runs rows in a world of their own, and gives its log of calls; `None` where it cannot be entered.
fn calls_of(rows: &[(&String, &String)], stubs: &BTreeSet<String>) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    world(root, stubs);
    let probe = "[ -e /inside ] && [ ! -e /usr/lib/os-release ] && echo entered";
    fs::write(root.join("probe"), probe).unwrap();
    if !within(root, "/probe").is_ok_and(|output| output.stdout == b"entered\n") {
        return None;
    }
    fs::create_dir(root.join("rows")).unwrap();
    let mut driver = String::from(DRIVER);
    for (id, command) in rows {
        fs::write(root.join("rows").join(id), command).unwrap();
        let _ = writeln!(driver, "row {id}");
    }
    driver.push_str("echo ended\n");
    fs::write(root.join("driver"), driver).unwrap();
    let ran = within(root, "/driver").unwrap();
    assert_eq!(ran.stdout, b"ended\n", "the world fell apart: {ran:?}");
    let log = fs::read(root.join("log/calls")).unwrap();
    Some(String::from_utf8_lossy(&log).into_owned())
}

/// CAKE-SHIM-1: what the guard says a command would run is what a real bash runs.
#[test]
fn dangerous_commands_do_what_the_guard_says() {
    let wanted = wanted();
    let mut stubs: BTreeSet<String> = BTreeSet::new();
    for (_, words) in wanted.values() {
        stubs.insert(words[0].rsplit('/').next().unwrap_or_default().to_owned());
    }
    stubs.extend(
        [
            "less", "sleep", "psql", "curl", "wget", "python3", "node", "ssh",
        ]
        .map(str::to_owned),
    );
    // A world for each core, and in it each row by itself, by a bash of its own, one after the other.
    let worlds = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    let rows: Vec<(&String, &String)> = wanted.iter().map(|(id, (row, _))| (id, row)).collect();
    let logs: Option<Vec<String>> = thread::scope(|scope| {
        let parts = rows.chunks(rows.len().div_ceil(worlds));
        let running: Vec<_> = parts
            .map(|part| scope.spawn(|| calls_of(part, &stubs)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let Some(logs) = logs else {
        eprintln!("no namespaces here: nothing was run, and nothing is proven");
        return;
    };
    let log = logs.concat();
    let mut calls: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for part in log.split('\u{1d}').skip(1) {
        let mut records = part.split('\u{1e}');
        let id = records.next().unwrap();
        let made = records
            .map(|record| record.split('\u{1f}').collect())
            .collect();
        calls.insert(id, made);
    }
    let plain = |word: &&String| !word.contains(['*', '?', '[', '~', '…', '\n', '{']);
    let proven: BTreeSet<&str> = wanted
        .iter()
        .filter(|(id, (_, words))| {
            let name = words[0].rsplit('/').next().unwrap();
            calls.get(id.as_str()).is_some_and(|made| {
                made.iter().any(|call| {
                    call[0] == name
                        && words[1..]
                            .iter()
                            .filter(plain)
                            .all(|word| call.contains(&word.as_str()))
                })
            })
        })
        .map(|(id, _)| id.as_str())
        .collect();
    let listed = listed();
    let is_listed = |id: &str| match listed.get(id) {
        Some(Some(program)) => installed(program).is_none(),
        Some(None) => true,
        None => false,
    };
    let unproven: Vec<&str> = wanted
        .keys()
        .map(String::as_str)
        .filter(|id| !proven.contains(id) && !is_listed(id))
        .collect();
    assert!(
        unproven.is_empty(),
        "{} proven, not: {unproven:#?}",
        proven.len()
    );
    assert!(proven.len() >= 300, "{}", proven.len());
    let needless: Vec<&&str> = proven.iter().filter(|id| is_listed(id)).collect();
    assert!(needless.is_empty(), "proven, and listed: {needless:#?}");
}

/// The rows that are run, with the words of the call that is to be made.
fn wanted() -> BTreeMap<String, (String, Vec<String>)> {
    let policy = Policy::default();
    let mut wanted = BTreeMap::new();
    for row in rows() {
        let verdict = decide(&row.command, &facts(), &policy);
        let (Some(rule), Some(subject)) = (verdict.rule, verdict.subject) else {
            continue;
        };
        if row.expect != Decision::Allow && !is_left_out(&row, &rule) {
            wanted.insert(row.id, (row.command, words(&subject)));
        }
    }
    wanted
}

/// The rows that are listed as not shown, with the program that they need, where their head names one.
fn listed() -> BTreeMap<String, Option<&'static str>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/unproven.txt");
    let mut listed = BTreeMap::new();
    let mut needed = None;
    for line in fs::read_to_string(path).unwrap().lines() {
        if let Some(head) = line.strip_prefix('#') {
            let mut programs = REAL_WHERE_THERE.iter().copied();
            needed = programs.find(|program| head.contains(&format!("`{program}`")));
        } else {
            listed.insert(line.to_owned(), needed);
        }
    }
    listed
}

/// What the page tells of the corpus is counted from its files, to a hundred, so that a few rows more change nothing.
#[test]
fn the_page_tells_how_many_rows_are_proven() {
    let stopped: BTreeSet<String> = rows()
        .into_iter()
        .filter(|row| row.expect != Decision::Allow)
        .map(|row| row.id)
        .collect();
    let listed = listed();
    let gone: Vec<&String> = listed.keys().filter(|id| !stopped.contains(*id)).collect();
    assert!(gone.is_empty(), "listed, and not to be stopped: {gone:#?}");
    let run = wanted();
    let by = |is_needed: bool| {
        let of_kind = listed
            .iter()
            .filter(|(_, needed)| needed.is_some() == is_needed);
        of_kind.filter(|(id, _)| run.contains_key(*id)).count()
    };
    let (judged, where_there) = (by(false), by(true));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guard.md");
    let page = fs::read_to_string(page).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wrong = Vec::new();
    for (phrase, counted) in [
        (" rows that are to be stopped", stopped.len()),
        (" are proven so", run.len() - judged),
        (" of these only where", where_there),
        (" more are judged by reading", judged),
        (" are not run", stopped.len() - run.len()),
    ] {
        let front = page.split(phrase).next().unwrap();
        let told = front.rsplit(' ').next().unwrap().replace(',', "");
        let told: usize = told.parse().unwrap_or_default();
        if told.abs_diff(counted) > 100 {
            wrong.push(format!("{told}{phrase}: {counted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
