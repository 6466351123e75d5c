//! What a confined executor may not do to the machine: kernel settings, set-id files, sockets, disk and processes.

#![cfg(target_os = "linux")]

use std::{ffi::OsString, os::unix::net::UnixListener};

use callosum_host::{
    Disk,
    process::{Cancel, Heartbeat, Limits},
};
use callosum_sandbox::{Access, ForkServer, Layers, MountPoint, SandboxSpec};
use callosum_testkit::{TestEnv, fakes};
use serde_json::json;

use crate::{
    confinement::{in_container, is_held, project, summary},
    projects::approved,
};

/// Runs a Python script in namespaces, without Landlock; `None` if this machine refuses namespaces.
fn in_namespaces(script: &str) -> Option<String> {
    in_namespaces_with(&TestEnv::new(), script, Vec::new())
}

/// The same, with more places.
fn in_namespaces_with(env: &TestEnv, script: &str, more: Vec<MountPoint>) -> Option<String> {
    let disk = Disk::real();
    let system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].iter();
    let places = system.filter_map(|path| {
        Some(MountPoint {
            source: disk.canonicalize(path.as_ref()).ok()?,
            path: path.into(),
            access: Access::Read,
        })
    });
    let order = SandboxSpec {
        layers: Layers {
            namespaces: true,
            system_calls: true,
            ..Layers::default()
        },
        room: env.folder().join("home"),
        places: places.chain(more).collect(),
        links: Vec::new(),
        listen: Vec::new(),
        gate: None,
        folder: "/".into(),
        program: "/usr/bin/python3".into(),
        arguments: ["-c", script].map(OsString::from).to_vec(),
        environment: Vec::new(),
    };
    let limits = Limits {
        quiet: None,
        total: Some(std::time::Duration::from_mins(2)),
        output_bytes: 1 << 20,
        error_bytes: 1 << 20,
    };
    let cancel = Cancel::new().unwrap();
    let server = ForkServer::new(fakes::program("callosum"));
    let pulse = Heartbeat::default();
    let ran = server.run(&order, &[], limits, &cancel, &pulse, &mut |_, _| {});
    let (run, report) = ran.unwrap();
    if let Some(callosum_sandbox::Outcome::Failed(step, _)) = report.outcome {
        assert_eq!(step.as_str(), "namespaces");
        return None;
    }
    let said = String::from_utf8_lossy(&run.error).into_owned();
    assert_eq!(said, "");
    Some(String::from_utf8_lossy(&run.output).into_owned())
}

/// CAL-SEC-1: root in a user namespace owns the kernel's settings, and cannot write them, with Landlock or without;
/// its own process's settings it can.
#[test]
fn settings_of_the_kernel_are_read_only_without_landlock() {
    let found = in_namespaces(
        r#"
import os
def opened(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return "opened"
    except OSError as error:
        return error.errno
for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
             "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/fs/x", "/proc/bus/x"]:
    print(path, opened(path) in (2, 13, 30))
print("own", opened("/proc/self/oom_score_adj"))
"#,
    );
    let Some(found) = found else { return };
    assert!(!found.contains("False"), "{found}");
    assert!(found.contains("own opened"), "{found}");
}

/// CAL-SEC-1: the processes of a namespace are bounded, root's too, and the machine's own bound stays as it is.
#[test]
fn the_number_of_processes_is_bounded_for_root_too() {
    let bound = || std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    let before = bound();
    let script = "print(open('/proc/sys/kernel/pid_max').read())";
    let Some(inside) = in_namespaces(script) else {
        return;
    };
    assert_eq!(bound(), before);
    if version >= (6, 14) {
        assert_eq!(inside.trim(), "4096");
    }
}

/// CAL-SEC-1: what an executor leaves in a folder that it may write runs as nobody but who starts it.
#[test]
fn no_file_gets_a_set_id_bit_by_any_call() {
    let script = r#"
import ctypes, platform, stat, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "")
    return 0
open("out/f", "w").close()
fd = os.open("out/f", os.O_RDONLY)
where = -100
tried("chmod", lambda: os.chmod("out/f", 0o4755))
tried("setgid", lambda: os.chmod("out/f", 0o2755))
tried("fchmod", lambda: os.chmod(fd, 0o6755))
tried("fchmodat2", lambda: call(452, where, b"out/f", 0o4755, 0))
tried("open", lambda: os.open("out/g", os.O_CREAT | os.O_WRONLY, 0o4755))
tried("tmpfile", lambda: os.open("out", os.O_TMPFILE | os.O_WRONLY, 0o4755))
tried("mknod", lambda: os.mknod("out/h", stat.S_IFREG | 0o4755))
tried("device", lambda: os.mknod("out/i", stat.S_IFCHR | 0o644, os.makedev(1, 3)))
tried("openat2", lambda: call(437, where, b"out/f", 0, 24))
capability = bytes.fromhex("0100000280000000000000000000000000000000")
tried("setxattr", lambda: os.setxattr("out/f", "security.capability", capability))
tried("fsetxattr", lambda: os.setxattr(fd, "user.x", b"x"))
tried("setxattrat", lambda: call(463, where, b"out/f", 0, b"user.x", 0, 16))
tried("copied", lambda: subprocess.run(["cp", "-a", "out/f", "out/k"], stderr=2).returncode)
tried("plain", lambda: os.chmod("out/f", 0o755))
tried("made", lambda: os.close(os.open("out/j", os.O_CREAT | os.O_WRONLY, 0o755)))
"#;
    let env = project(script, &["--allow-write", "out/"]);
    let found = summary(&env);
    if !is_held(&env) {
        return;
    }
    let refused = [
        "chmod",
        "setgid",
        "fchmod",
        "fchmodat2",
        "open",
        "tmpfile",
        "mknod",
        "device",
    ];
    for call in refused {
        assert!(
            found.contains(&format!("{call}: PermissionError 1")),
            "{call}: {found}"
        );
    }
    for call in [
        "openat2: OSError 38",
        "; setxattr: OSError 95",
        "fsetxattr: OSError 95",
        "setxattrat: OSError 95",
        "copied: 0",
        "plain: None",
        "made: None",
    ] {
        assert!(found.contains(call), "{call}: {found}");
    }
}

/// CAL-SEC-1: a socket with a path, in the project or anywhere, is connected to by no call, with namespaces or without.
#[test]
fn no_socket_with_a_path_is_connected_to() {
    let script = r#"
def connect(kind):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.connect("run/s")
tried("stream", lambda: connect(socket.SOCK_STREAM))
tried("datagram", lambda: connect(socket.SOCK_DGRAM))
def send():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", "run/s")
tried("pair", send)
def talk():
    one, other = socket.socketpair()
    one.sendall(b"x")
    return other.recv(1)
tried("own", talk)
"#;
    let env = project(script, &["--allow-read", "run"]);
    env.write("run/.keep", "");
    let _listener = UnixListener::bind(env.project().join("run/s")).unwrap();
    let expected = "stream: PermissionError 1; datagram: PermissionError 1; pair: PermissionError 1; own: b'x'";
    let found = summary(&env);
    if is_held(&env) {
        assert_eq!(found, expected);
    }
    let words = ["delegate", "again", "--executor", "probe", "--json"];
    let output = in_container(&env, &words);
    if is_held(&env) {
        assert_eq!(output.success().json()["summary"], expected);
    }
}

/// CAL-SEC-1: temporary files are in memory and have a bound.
#[test]
fn temporary_files_have_a_bound() {
    let script = r#"
own = os.environ["TMPDIR"]
size = os.statvfs(own)
found.append(f"bounded: {size.f_blocks * size.f_frsize <= 1 << 30}")
def fill():
    with open(own + "/b", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, (1 << 30) + 4096)
tried("fill", fill)
tried("write", lambda: open(own + "/c", "w").write("x"))
"#;
    let env = project(script, &[]);
    let found = summary(&env);
    if is_held(&env) {
        assert_eq!(found, "bounded: True; fill: OSError 28; write: 1");
    }
}

/// CAL-SEC-1: both names of the folder for temporary files are one folder, what was laid there is read and not written, and
/// nothing of it is left on the disk.
#[test]
fn temporary_files_are_under_both_names_and_leave_nothing() {
    let env = TestEnv::new();
    env.write("scratch/schema", "laid");
    let source = env.project().join("scratch");
    let named = |path: &str| MountPoint {
        source: source.clone(),
        path: path.into(),
        access: Access::Bounded,
    };
    let script = r#"
def tried(attempt):
    try:
        print(attempt())
    except OSError as error:
        print(error.errno)
for folder in ["/scratch", "/tmp"]:
    tried(lambda: open(folder + "/schema").read())
    tried(lambda: open(folder + "/schema", "w"))
with open("/scratch/a", "w") as file:
    file.write("a")
tried(lambda: open("/tmp/a").read())
"#;
    let more = vec![named("/scratch"), named("/tmp")];
    let Some(found) = in_namespaces_with(&env, script, more) else {
        return;
    };
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        ["laid", "30", "laid", "30", "a"]
    );
    assert_eq!(env.read("scratch/schema"), "laid");
    assert!(!source.join("a").exists());
}

/// CAL-SEC-1: under grants as wide as the project and the home folder, what agents, shells and git obey is read-only.
#[test]
fn what_is_obeyed_is_read_only_under_the_widest_grants() {
    let of_project = [
        "CLAUDE.md",
        "AGENTS.md",
        "src/GEMINI.md",
        ".agents/skills/a.md",
        ".cursor/rules",
        ".vscode/tasks.json",
        ".envrc",
        ".loa.config.yaml",
        ".beads/issues.jsonl",
        "loa-grimoire/NOTES.md",
        "docs/agents.md",
    ];
    let of_home = [
        ".claude/settings.json",
        ".codex/config.toml",
        ".gitconfig",
        ".bashrc",
        ".ssh/id",
        "code/q/.git/config",
        "code/q/CLAUDE.md",
    ];
    let script = format!(
        r#"
for path in {of_project:?} + [os.path.expanduser("~/" + path) for path in {of_home:?}]:
    tried("obeyed", lambda: open(path, "a").write("x"))
for path in [".zshrc", "code/q/.git/hooks/new"]:
    tried("new", lambda: open(os.path.expanduser("~/" + path), "w").write("x"))
tried("moved", lambda: os.rename(os.path.expanduser("~/code/q"), os.path.expanduser("~/code/r")))
tried("free", lambda: open("src/main.rs", "a").write("x"))
tried("free", lambda: open(os.path.expanduser("~/code/q/free"), "w").write("x"))
"#
    );
    let env = project(&script, &[]);
    for path in of_project {
        env.write(path, "y");
    }
    for path in of_home {
        env.write(env.home().join(path), "y");
    }
    Disk::real()
        .create_dir_all(&env.home().join("code/q/.git/hooks"))
        .unwrap();
    std::os::unix::fs::symlink("docs/agents.md", env.project().join("QWEN.md")).unwrap();
    let grants = ["--allow-write", "./", "--allow-write", "~/"];
    let register = [
        "executor",
        "register",
        "probe",
        "--command",
        "python3 tools/probe.py",
    ];
    let told = env.run(register.iter().chain(&grants)).success().stderr;
    for name in ["CLAUDE.md", ".envrc", ".gitconfig", "startup files"] {
        assert!(told.contains(name), "{name}: {told}");
    }
    let found = summary(&env);
    if !is_held(&env) {
        return;
    }
    let all: Vec<&str> = found.split("; ").collect();
    let (obeyed, rest) = all.split_at(of_project.len() + of_home.len());
    for (path, found) in of_project.iter().chain(&of_home).zip(obeyed) {
        assert_eq!(*found, "obeyed: OSError 30", "{path}");
    }
    assert_eq!(
        rest,
        [
            "new: OSError 30",
            "new: OSError 30",
            "moved: OSError 16",
            "free: 1",
            "free: 1"
        ]
    );
    for grant in [
        "CLAUDE.md",
        "~/.claude/",
        ".cursor/",
        "~/.ssh/authorized_keys",
    ] {
        let refused = env
            .run(register.iter().chain(&["--allow-write", grant]))
            .ended_with(2);
        assert!(
            refused.stderr.contains("the sandbox never allows"),
            "{}",
            refused.stderr
        );
    }
}

/// REQ-GOV-004, CCOS-GOV-1: a call that may change something is made each time, though the ledger has an answer over the
/// same files: what it changes is not among them.
#[test]
fn a_call_that_may_change_something_is_made_each_time() {
    let ask = |env: &TestEnv| {
        let words = ["delegate", "make it", "--executor", "probe", "--json"];
        env.run(words).success().json()["cached_from"].clone()
    };
    let script = r#"open("build/made", "a").write("x\n")"#;
    for options in [
        &["--allow-write", "build/"][..],
        &["--sandbox", "off"],
        &["--allow-write", "build/", "--allow-net", "127.0.0.1:9"],
    ] {
        let env = project(script, options);
        env.write(".gitignore", "build/\n");
        env.write("build/made", "");
        let made = || env.read("build/made").lines().count();
        assert_eq!([ask(&env), ask(&env)], [json!(null), json!(null)]);
        assert_eq!(made(), 2, "{options:?}");
        let plan = "(:summary (call :agent.probe {:prompt \"make it\"}))";
        for _ in 0..2 {
            let start = env
                .callosum()
                .without("CALLOSUM_TEST_IDS")
                .arguments(["plan", "run", "--json", "-e", plan])
                .run();
            approved(&env, start).success();
        }
        assert_eq!(made(), 4, "{options:?}");
    }
    let reader = project("", &[]);
    ask(&reader);
    assert!(ask(&reader).is_object());
    let caller = project("", &["--allow-net", "127.0.0.1:9"]);
    assert_eq!([ask(&caller), ask(&caller)], [json!(null), json!(null)]);
}
