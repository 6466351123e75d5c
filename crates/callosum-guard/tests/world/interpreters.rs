//! Interpreters of other languages in the world of stubs: their programs, their libraries, and
//! replacements of their own functions that delete, move or kill, which write down the command that
//! does the same.
//!
//! A row of theirs is proven if such a program, when run, makes the calls that the guard predicts.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// An interpreter, and how the functions of its own are taken away that the world would not outlive.
struct Interpreter {
    program: &'static str,
    /// The command by which it prints the folders of its libraries, one to a line.
    libraries: &'static [&'static str],
    /// Path of the file that it reads before each program.
    first: &'static str,
    text: &'static str,
    /// The setting that makes it read that file.
    set: &'static str,
}

/// Those that rows of the corpus are in.
const INTERPRETERS: [Interpreter; 3] = [
    Interpreter {
        program: "python3",
        libraries: &[
            "-c",
            "import sysconfig; print(sysconfig.get_path('stdlib'))",
        ],
        first: "usr/lib/oracle/sitecustomize.py",
        text: PYTHON,
        set: "PYTHONPATH=/usr/lib/oracle PYTHONDONTWRITEBYTECODE=1",
    },
    Interpreter {
        program: "perl",
        libraries: &[
            "-e",
            "print map { \"$_\\n\" } grep { m{^/usr/(lib|share)/} } @INC",
        ],
        first: "usr/lib/oracle/Oracle.pm",
        text: PERL,
        set: "PERL5LIB=/usr/lib/oracle PERL5OPT=-MOracle",
    },
    Interpreter {
        program: "node",
        libraries: &["-e", ""],
        first: "usr/lib/oracle/oracle.cjs",
        text: NODE,
        set: "NODE_OPTIONS=--require=/usr/lib/oracle/oracle.cjs",
    },
];

/// Parts that no program of the corpus needs, and that would make a world large.
const LEFT: [&str; 10] = [
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "ensurepip",
    "tkinter",
    "pydoc_data",
    "unicore",
    "Encode",
    "dist-packages",
];

/// Another name of an interpreter.
pub(crate) fn other_name(program: &str) -> Option<&'static str> {
    (program == "python3").then_some("python")
}

/// Returns the stub in the place of an interpreter: it writes down its call, as all do, and runs
/// it.
pub(crate) fn stand_in(program: &str, stub: &str) -> String {
    let set = INTERPRETERS
        .iter()
        .find(|one| one.program == program)
        .map_or("", |one| one.set);
    format!("{stub}{set} exec /real/{program} \"$@\"\n")
}

/// Puts the libraries of an interpreter into the world, and what it reads first.
pub(crate) fn furnish(root: &Path, program: &str, installed: &Path) {
    let Some(one) = INTERPRETERS.iter().find(|one| one.program == program) else {
        return;
    };
    let listed = Command::new(installed)
        .args(one.libraries)
        .env_clear()
        .output()
        .unwrap();
    for folder in String::from_utf8_lossy(&listed.stdout).lines() {
        let folder = PathBuf::from(folder);
        if let Ok(inner) = folder.strip_prefix("/") {
            copy(&folder, &root.join(inner)).unwrap();
        }
    }
    let first = root.join(one.first);
    fs::create_dir_all(first.parent().unwrap()).unwrap();
    fs::write(first, one.text).unwrap();
}

/// Copies a folder with all that matters of it, if it exists.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else {
        return Ok(());
    };
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let (path, to) = (entry.path(), to.join(&name));
        // What extensions are built with is the largest of it.
        let is_of_build = name.to_string_lossy().starts_with("config-");
        if is_of_build || LEFT.iter().any(|left| name == *left) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to)?;
        } else if path.is_file() && !to.exists() {
            fs::copy(&path, &to)?;
            // What was compiled of it holds for this time only.
            fs::File::open(&to)?.set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

const PYTHON: &str = r"
import os, shutil

def log(*words):
    with open('/log/calls', 'ab') as log:
        text = '\x1f'.join(os.fsdecode(os.fspath(w)) for w in words)
        log.write((text + '\x1f\x1e').encode())

def instead(module, name, *command):
    def logged(*given, **named):
        paths = [g for g in given if isinstance(g, (str, bytes, os.PathLike))]
        paths += [v for k, v in named.items() if k in ('path', 'src', 'dst', 'name')]
        log(*command, *paths)
    setattr(module, name, logged)

instead(shutil, 'rmtree', 'rm', '-rf')
for name in ('remove', 'unlink', 'rmdir', 'removedirs'):
    instead(os, name, 'rm', '-f')
for name in ('rename', 'renames', 'replace'):
    instead(os, name, 'mv')
instead(shutil, 'move', 'mv')
for name in ('copy', 'copy2', 'copyfile', 'copytree'):
    instead(shutil, name, 'cp')
for name in ('symlink', 'link'):
    instead(os, name, 'ln')
os.kill = lambda pid, signal: log('kill', '-%d' % signal, str(pid))
os.killpg = os.kill

# There is no terminal to be had.
import subprocess, sys, types
sys.modules['pty'] = types.ModuleType('pty')
sys.modules['pty'].spawn = lambda argv, *rest: subprocess.call([argv] if isinstance(argv, str) else argv)
";

const PERL: &str = r#"
package Oracle;
sub note { open(my $log, '>>', '/log/calls') or return; print $log join("\x1f", @_), "\x1f\x1e"; close $log; 1 }
BEGIN {
    *CORE::GLOBAL::unlink = sub { note('rm', '-f', @_ ? @_ : $_) };
    *CORE::GLOBAL::rmdir = sub { note('rm', '-f', @_ ? @_ : $_) };
    *CORE::GLOBAL::rename = sub { note('mv', @_) };
}
require File::Path;
no warnings 'redefine';
*File::Path::rmtree = sub { note('rm', '-rf', map { ref $_ eq 'ARRAY' ? @$_ : ref $_ ? () : $_ } @_) };
*File::Path::remove_tree = \&File::Path::rmtree;
# What the command line has loaded before this.
*main::rmtree = \&File::Path::rmtree if defined &main::rmtree;
*main::remove_tree = \&File::Path::rmtree if defined &main::remove_tree;
1;
"#;

const NODE: &str = r"
const fs = require('fs');
const append = fs.appendFileSync;
const log = (...words) => append('/log/calls', words.map(String).join('\x1f') + '\x1f\x1e');
const text = given => given.filter(one => typeof one === 'string' || one instanceof URL || Buffer.isBuffer(one));
const instead = (name, ...command) => {
  const logged = (...given) => {
    log(...command, ...text(given));
    const back = given[given.length - 1];
    if (typeof back === 'function') back(null);
  };
  for (const end of ['', 'Sync']) if (fs[name + end]) fs[name + end] = logged;
  if (fs.promises[name]) fs.promises[name] = async (...given) => logged(...given);
};
instead('rm', 'rm', '-rf');
instead('unlink', 'rm', '-f');
instead('rmdir', 'rm', '-rf', '-f');
instead('rename', 'mv');
instead('cp', 'cp');
instead('copyFile', 'cp');
instead('symlink', 'ln');
instead('link', 'ln');
process.kill = (pid, signal) => log('kill', String(signal), String(pid));
require('module').syncBuiltinESMExports();
";
