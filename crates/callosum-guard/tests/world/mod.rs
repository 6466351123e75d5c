//! The world in which the oracle runs commands: a folder with bash, a few harmless programs, and
//! stubs in the place of all others, which write down their calls.
//!
//! It is entered by way of namespaces of its own (user, mount, processes, network) and a changed
//! root: without those, nothing is run. Start with [`made_by`]. [`lay_out`] makes its contents
//! before each row; a row's changes are written down as well, behind its calls.

mod interpreters;

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

/// Programs that are there as they are: they run others, or make text.
const REAL: &[&str] = &[
    "env", "nice", "ionice", "nohup", "setsid", "timeout", "xargs", "base64", "tr", "rev", "cat",
    "dirname", "basename", "seq", "head", "tail", "sed", "awk", "sort", "ls", "mktemp", "tee",
    "flock", "taskset", "xxd", "grep", "touch", "time", "chrt", "uniq",
];

/// Programs that write down their call, and run, if the machine has them: rows that need one name
/// it, and are proven if it exists.
pub(crate) const REAL_WHERE_THERE: &[&str] = &["make", "dash", "python3", "perl", "node"];

/// Stubs that no row names as what is dangerous.
const BYSTANDERS: &[&str] = &[
    "less", "sleep", "psql", "curl", "wget", "python3", "node", "ssh", "jq", "yq", "git", "date",
    "gunzip", "openssl", "pbpaste", "xclip", "gh", "aws", "kubectl", "docker", "ruby", "php",
];

/// Text of a program that no one has read, for rows about such a program; a shell that obeys it
/// makes this call.
pub(crate) const UNREAD: &str = "rm -rf /unread";

/// A row, as it is run.
pub(crate) struct Run<'a> {
    pub(crate) id: &'a str,
    pub(crate) command: &'a str,
    /// Whether all that is not known in it says [`UNREAD`].
    pub(crate) is_unread: bool,
}

/// Result of a row.
#[derive(Default)]
pub(crate) struct Made {
    /// The words of each program that was called.
    pub(crate) calls: Vec<Vec<String>>,
    /// The paths that were written, and folders in which a name came or went.
    pub(crate) written: Vec<String>,
}

/// Runs rows in worlds of their own, and returns the result of each; `None` if no world can be
/// entered.
pub(crate) fn made_by(
    rows: &[Run<'_>],
    stubs: &BTreeSet<String>,
) -> Option<BTreeMap<String, Made>> {
    let mut stubs = stubs.clone();
    stubs.extend(BYSTANDERS.iter().map(|&name| name.to_owned()));
    // A world for each core, and in it each row by itself, by a bash of its own, one after the other.
    let worlds = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    let logs: Option<Vec<String>> = thread::scope(|scope| {
        let parts = rows.chunks(rows.len().div_ceil(worlds));
        let running: Vec<_> = parts
            .map(|part| scope.spawn(|| log_of(part, &stubs)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let log = logs?.concat();
    let mut all = BTreeMap::new();
    for part in log.split('\u{1d}').skip(1) {
        let mut records = part.split('\u{1e}');
        let id = records.next().unwrap().to_owned();
        let mut made = Made::default();
        for record in records {
            match record.strip_prefix("\u{1c}") {
                Some(path) => made.written.push(path.to_owned()),
                None => made
                    .calls
                    .push(record.split('\u{1f}').map(str::to_owned).collect()),
            }
        }
        all.insert(id, made);
    }
    Some(all)
}

/// Returns the path of a program on this machine.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
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

/// A call is written at once: the programs of a pipe append to the log side by side.
const STUB: &str = r#"#!/bin/bash -p
printf -v call '%s\037' "${0##*/}" "$@"
printf '%s\036' "$call" >> /log/calls
"#;

/// Additional code of stubs, in rows about code that no one has read: they print it, or save it at
/// the path in their options.
const ANSWER: &str = r#"name=${0##*/} folder=. to= url=
[ "$name" = curl ] && to=-
while [ $# -gt 0 ]; do
    case $name:$1 in
        curl:--output-dir) folder=$2; shift ;;
        curl:--output) to=$2; shift ;;
        curl:--remote-name) to= ;;
        *:--*) ;;
        curl:-*O) to= ;;
        wget:-*O-) to=- ;;
        curl:-*o|wget:-*O) to=$2; shift ;;
        wget:-P) folder=$2; shift ;;
        *:-*) ;;
        *) url=$1 ;;
    esac
    shift
done
case $name:$to in
    wget:-|curl:-) printf '%s\n' "$SAYS" ;;
    wget:*|curl:*) cd "$folder" && printf '%s\n' "$SAYS" > "${to:-${url##*/}}" ;;
    *) printf '%s\n' "$SAYS" ;;
esac
"#;

/// `find` deletes by itself, and would take the stubs with it: here it has `rm` do that, and ends when some were called.
const FIND: &str = r#"words=()
for word; do
    case $word in
        -delete) words+=(-exec rm -rf '{}' ';') ;;
        *) words+=("$word") ;;
    esac
done
exec timeout 5 /real/find "${words[@]}"
"#;

/// Programs that run another one as another user: here they run it as it is.
const ELEVATING: [&str; 6] = ["sudo", "doas", "pkexec", "run0", "su", "runuser"];

/// Passes over their options and settings of the environment, and runs what is left. `su` has a text for a shell instead,
/// and a user's name.
const ELEVATE: &str = r#"name=${0##*/} text=
while [ $# -gt 0 ]; do
    case $name:$1 in
        su*:-c|su*:--command|runuser:-c|runuser:--command) text=$2; shift ;;
        su*:--command=*|runuser:--command=*) text=${1#*=} ;;
        *:-u|*:-g|*:-h|*:-p|*:-C|*:-r|*:-t|*:-T|*:-U|*:-D|*:-R|*:--user|*:--group|*:--chdir) shift ;;
        *:--) shift; break ;;
        *:-*|*:[A-Za-z_]*=*) ;;
        su:*|runuser:*) ;;
        *) break ;;
    esac
    shift
done
if [ -n "$text" ]; then exec bash -c "$text"; fi
if [ $# -gt 0 ]; then exec "$@"; fi
"#;

/// Lays out the files of a home and of a project, among them all that is protected.
fn lay_out(skeleton: &Path) {
    for folder in ["tmp", "var/lib", "usr/local/bin", "root"] {
        fs::create_dir_all(skeleton.join(folder)).unwrap();
    }
    for folder in ["src", "sub", "target", ".git/objects", ".git/refs/heads"] {
        fs::create_dir_all(skeleton.join("home/u/p").join(folder)).unwrap();
    }
    for file in [
        "etc/hosts",
        "home/u/.bashrc",
        "home/u/.profile",
        "home/u/.zshrc",
        "home/u/.ssh/config",
        "home/u/.ssh/authorized_keys",
        "home/u/.claude/settings.json",
        "home/u/.codex/config.toml",
        "home/u/.gemini/settings.json",
        "home/u/.config/callosum/config.toml",
        "home/u/.config/callosum/cake_config.yaml",
        "home/u/.local/state/callosum/permissions/p.json",
        "home/u/p/a.rs",
        "home/u/p/.calrc",
        "home/u/p/registry.json",
        "home/u/p/cake_config.yaml",
        "home/u/p/.cal_hashlog",
        "home/u/p/.cal_memory.json",
        "home/u/p/cal_audit/2026-01-01.jsonl",
        "home/u/p/.git/HEAD",
        "home/u/p/.git/config",
        "home/u/p/.git/index",
        "home/u/p/.git/hooks/pre-commit",
        "home/u/p/.git/info/exclude",
        "home/u/p/.claude/settings.json",
        "home/u/p/.claude/settings.local.json",
        "home/u/p/.claude/hooks/guard.sh",
        "home/u/p/.codex/config.toml",
        "home/u/p/.codex/hooks.json",
        "home/u/p/.gemini/settings.json",
        "home/u/p/.qwen/settings.json",
        "home/u/p/.cursor/hooks.json",
        "home/u/p/.opencode/plugin/x.js",
    ] {
        let path = skeleton.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
}

fn world(root: &Path, stubs: &BTreeSet<String>) {
    for folder in ["bin", "usr/bin", "real", "log", "dev", "said"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    lay_out(&root.join("skeleton"));
    bring(root, "bin", "bash");
    symlink("bash", root.join("bin/sh")).unwrap();
    for program in REAL {
        bring(root, "bin", program);
    }
    for program in ["cp", "rm", "find", "mkdir"] {
        bring(root, "real", program);
    }
    fs::write(root.join("answer"), ANSWER).unwrap();
    let stub = format!("{STUB}[ -z \"$SAYS\" ] || . /answer \"$@\"\n");
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let stand = |name: &str, text: &str| {
        write(root.join("bin").join(name), text);
        symlink(format!("/bin/{name}"), root.join("usr/bin").join(name)).unwrap();
    };
    stand("find", &format!("{STUB}{FIND}"));
    for name in ELEVATING {
        stand(name, &format!("{STUB}{ELEVATE}"));
    }
    for program in REAL_WHERE_THERE {
        bring(root, "real", program);
        if let Some(path) = installed(program) {
            interpreters::furnish(root, program, &path);
            let text = interpreters::stand_in(program, STUB);
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
            stand(name, &stub);
        }
    }
    for program in REAL.iter().chain(&["bash"]) {
        let link = root.join("usr/bin").join(program);
        if !link.exists() {
            symlink(format!("/bin/{program}"), link).unwrap();
        }
    }
    let files = [
        "f",
        "x",
        "foo",
        "list",
        "list.txt",
        "urls",
        "cmds",
        "cmds.txt",
        "cmd.txt",
        "commands.txt",
        "x.sh",
        "gen.py",
    ];
    for name in files {
        let text = match name {
            "gen.py" => format!("print('{UNREAD}')"),
            _ => UNREAD.to_owned(),
        };
        fs::write(root.join("said").join(name), text + "\n").unwrap();
    }
    for name in ["gen", "gen.sh"] {
        write(root.join("said").join(name), &stub);
    }
    fs::write(root.join("dev/null"), "").unwrap();
    fs::write(root.join("inside"), "").unwrap();
    fs::write(root.join("stamp"), "").unwrap();
    // Young enough for rows that pick out what was worked on lately.
    let now = SystemTime::now();
    date(&root.join("skeleton"), now - Duration::from_secs(20));
    date(&root.join("said"), now - Duration::from_secs(20));
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

/// Script that enters the world. The parts that it is laid out from are closed against rows that
/// write to anything they find. If the system lets each process namespace have a limit of its own,
/// no row can start more than some hundred processes.
const ENTER: &str = r#"for part in said skeleton rows real; do
    [ -d "$1/$part" ] || continue
    mount --bind "$1/$part" "$1/$part"
    mount -o remount,bind,ro "$1/$part"
done
mkdir -p "$1/proc"
{ mount -t proc proc "$1/proc" && echo 400 > "$1/proc/sys/kernel/pid_max"; umount "$1/proc"; } 2>/dev/null || :
exec chroot "$1" /bin/bash "$2"
"#;

/// Runs a script in the world, and in no other place.
///
/// `unshare`, the script that enters, and `chroot` each end without running anything if they do not
/// succeed.
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
        .args(["sh", "-ec", ENTER, "sh"])
        .arg(root)
        .arg(script)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", "/home/u")
        .stdin(Stdio::null())
        .output()
}

/// Beginning of the script that runs the rows. It is process 1 of its namespace, or does nothing:
/// after each row it waits for everything else, and then ends it. The limits hold for each row, not
/// for the script, which takes as long as a slow machine needs. After each row the part of the
/// world that it has written is made again from scratch, so that none is proven by what another
/// left behind: the shell detects that by itself, since a name that comes or goes changes its
/// folder's time, and a content its file's, and all of the skeleton is older than `/stamp`.
/// `/dev/null` is a file here, so a shell that read from it would read, without end, its own
/// output.
const DRIVER: &str = r#"[ $$ = 1 ] && [ -e /inside ] || exit 1
export HOME=/home/u PATH=/bin:/usr/bin
shopt -s globstar dotglob nullglob
declare -A stale=([/home]=1 [/tmp]=1 [/etc]=1 [/var]=1 [/root]=1 [/usr/local]=1)
fresh() {
    cd /
    for part in "${!stale[@]}"; do
        [ -d $part ] || { /real/rm -rf $part; /real/mkdir -p $part; }
        /real/rm -rf $part/*
        [ $part = /dev ] || /real/cp -aT /skeleton$part $part
    done
    stale=()
    : > /dev/null
    cd /home/u/p
}
settle() {
    for ((n = 0; n < 100; n++)); do
        kill -0 -1 2>/dev/null || return
        timeout 0.02 tail -f /inside
    done
    kill -9 -1
    wait
}
tell() {
    local path
    for path in /home /tmp /etc /var /root /usr/local; do
        [ -d $path ] || stale[$path]=1
    done
    for path in {/home,/tmp,/etc,/var,/root,/usr/local,/dev}/**; do
        if [ "$path" -nt /stamp ] && [ "$path" != /dev/null ]; then
            printf '\034%s\036' "${path%/}" >> /log/calls
            case $path in
                /home/u/p|/home/u/p/*) stale[/home/u/p]=1 ;;
                /usr/*) stale[/usr/local]=1 ;;
                *) path=${path#/} && stale[/${path%%/*}]=1 ;;
            esac
        fi
    done
}
row() {
    fresh
    printf '\035%s\036' "$1" >> /log/calls
    (
        if [ -n "$2" ]; then
            export SAYS="$2" CMD="$2" LINE="$2" SCRIPT="$2"
            /real/cp -a /said/. .
        fi
        ulimit -f 2048 -t 5
        exec timeout 60 /bin/bash -c "$(</rows/"$1")"
    ) >/dev/null 2>&1 </inside
    settle
    tell
}
"#;

/// Runs rows in a world of their own, and returns its log; `None` if it cannot be entered.
fn log_of(rows: &[Run<'_>], stubs: &BTreeSet<String>) -> Option<String> {
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
    for row in rows {
        fs::write(root.join("rows").join(row.id), row.command).unwrap();
        let says = if row.is_unread { UNREAD } else { "" };
        let _ = writeln!(driver, "row {} '{says}'", row.id);
    }
    driver.push_str("echo ended\n");
    fs::write(root.join("driver"), driver).unwrap();
    let ran = within(root, "/driver").unwrap();
    assert_eq!(ran.stdout, b"ended\n", "the world fell apart: {ran:?}");
    let log = fs::read(root.join("log/calls")).unwrap();
    Some(String::from_utf8_lossy(&log).into_owned())
}
