//! One-liners as agents write them, and what they would do.

use super::{Effect, LANGUAGES, effects};

fn of(program: &str, source: &str) -> Vec<Effect> {
    let language = LANGUAGES.iter().find(|one| one.runs(program)).unwrap();
    effects(language, source, "/home/u")
}

/// CAKE-SHIM-1: what a one-liner hands to a shell is seen.
#[test]
fn strings_that_reach_a_shell_are_found() {
    let shell = Effect::Shell("rm -rf /".to_owned());
    for (program, source) in [
        ("python3", "import os; os.system('rm -rf /')"),
        ("python", "import os; os.system('rm ' + '-rf /')"),
        ("python3.12", "c='rm -rf /'; import os; os.popen(c)"),
        ("python3", "__import__('os').system('rm -rf /')"),
        (
            "python3",
            "import base64,os;os.system(base64.b64decode('cm0gLXJmIC8=').decode())",
        ),
        ("node", "require('child_process').execSync('rm -rf /')"),
        ("perl", "system \"rm -rf /\""),
        ("perl", "`rm -rf /`"),
        ("ruby", "%x(rm -rf /)"),
        ("php", "shell_exec('rm -rf /');"),
        ("awk", "BEGIN{system(\"rm -rf /\")}"),
        ("awk", "BEGIN{\"rm -rf /\" | getline}"),
    ] {
        assert!(of(program, source).contains(&shell), "{program}: {source}");
    }
}

/// CAKE-SHIM-1: a one-liner that goes to another folder deletes there.
#[test]
fn a_folder_that_is_entered_is_found() {
    for (program, source) in [
        (
            "python3",
            "import os, shutil; os.chdir('/'); shutil.rmtree('etc')",
        ),
        (
            "node",
            "process.chdir('/'); require('fs').rmSync('etc', {recursive: true})",
        ),
        ("ruby", "Dir.chdir('/'); FileUtils.rm_rf('etc')"),
        ("perl", "chdir '/'; rmtree('etc')"),
        ("php", "chdir('/'); unlink('etc');"),
    ] {
        let found = of(program, source);
        assert_eq!(
            found.first(),
            Some(&Effect::Enters("/".to_owned())),
            "{source}"
        );
        assert!(
            matches!(&found[1], Effect::Words(words) if words[0] == "rm"),
            "{source}: {found:?}"
        );
    }
}

/// CAKE-SHIM-1: what a one-liner deletes itself is seen as a deletion.
#[test]
fn deletions_are_found() {
    let words = |words: &[&str]| Effect::Words(words.iter().map(|&w| w.to_owned()).collect());
    for (program, source, expected) in [
        (
            "python3",
            "import shutil; shutil.rmtree('/etc')",
            words(&["rm", "-rf", "/etc"]),
        ),
        (
            "python3",
            "import shutil,os; shutil.rmtree(os.path.expanduser('~'))",
            words(&["rm", "-rf", "/home/u"]),
        ),
        (
            "python3",
            "root = pathlib.Path.home()\nshutil.rmtree(root / 'notes')",
            words(&["rm", "-rf", "/home/u/notes"]),
        ),
        (
            "python3",
            "from pathlib import Path; Path('.git/config').unlink()",
            words(&["rm", "-f", ".git/config"]),
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['rm','-rf','/'])",
            words(&["rm", "-rf", "/"]),
        ),
        (
            "node",
            "require('fs').rmSync('/home/u',{recursive:true})",
            words(&["rm", "-rf", "/home/u"]),
        ),
        (
            "ruby",
            "require 'fileutils'; FileUtils.rm_rf('/etc')",
            words(&["rm", "-rf", "/etc"]),
        ),
    ] {
        assert!(
            of(program, source).contains(&expected),
            "{source}: {:?}",
            of(program, source)
        );
    }
}
