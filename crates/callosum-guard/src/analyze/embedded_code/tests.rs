//! One-liners as agents write them, and what they would do.

use super::{Effect, KnownPrograms, LANGUAGES, effects};

fn effects_of(program: &str, source: &str) -> Vec<Effect> {
    let language = LANGUAGES.iter().find(|one| one.runs(program)).unwrap();
    effects(
        language,
        source,
        "/home/u",
        KnownPrograms::new(&["git", "rm"]),
    )
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
        assert!(
            effects_of(program, source).contains(&shell),
            "{program}: {source}"
        );
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
        let found = effects_of(program, source);
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

/// CAKE-SHIM-1: a one-liner's request to a service is recorded as the command of its client.
#[test]
fn what_is_asked_of_services_is_found() {
    let words = |line: &str| Effect::Words(line.split(' ').map(str::to_owned).collect());
    for (program, source, expected) in [
        (
            "python3",
            "import redis; redis.Redis().flushall()",
            "redis-cli flushall",
        ),
        (
            "python3",
            "MongoClient().drop_database('shop')",
            "mongosh --eval db.dropDatabase()",
        ),
        (
            "python3",
            "boto3.resource('s3').Bucket('prod').objects.all().delete()",
            "aws s3 rm --recursive s3://bucket",
        ),
        (
            "python3",
            "import requests; requests.delete('https://api.github.com/repos/a/b')",
            "curl -X DELETE https://api.github.com/repos/a/b",
        ),
        (
            "node",
            "fetch('https://api.github.com/repos/a/b', {method: 'DELETE'})",
            "curl -X DELETE https://api.github.com/repos/a/b",
        ),
        (
            "python3",
            "r = Repo('.'); r.head.reset(index=True, working_tree=True)",
            "git reset --hard",
        ),
    ] {
        let found = effects_of(program, source);
        assert!(found.contains(&words(expected)), "{source}: {found:?}");
    }
    for (program, source) in [
        ("python3", "cache.flushall()"),
        ("python3", "Item.objects.filter(old=True).delete()"),
        ("node", "fetch('https://x.io', {method: 'POST'})"),
        ("python3", "r.head.reset(index=True)"),
    ] {
        assert_eq!(effects_of(program, source), [], "{source}");
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
            effects_of(program, source).contains(&expected),
            "{source}: {:?}",
            effects_of(program, source)
        );
    }
}

/// CAKE-SHIM-1: a question to a database is no text for a shell, to which `select` is a loop.
#[test]
fn a_question_to_a_database_is_no_command() {
    for source in [
        "print(c.execute('select 1').fetchone())",
        "sqlite3.connect('app.db').execute('SELECT count(*) FROM users')",
    ] {
        assert_eq!(effects_of("python3", source), [], "{source}");
    }
}

/// CAKE-SHIM-1: what names hold is put in their place: lists, joined and filled texts, rounds of a loop.
#[test]
fn what_names_hold_is_known() {
    let words = Effect::Words(["git", "reset", "--hard"].map(str::to_owned).to_vec());
    let shell = Effect::Shell("git reset --hard".to_owned());
    for (program, source, expected) in [
        (
            "python3",
            "a=['reset']; a += ['--hard']; run(['git']+a)",
            &words,
        ),
        (
            "python3",
            "a=['git']; a.append('reset'); a.extend(['--hard']); run(a)",
            &words,
        ),
        (
            "python3",
            "[run(['git', *a.split()]) for a in ('status', 'reset --hard')]",
            &words,
        ),
        (
            "python3",
            "c='git'; c+=' reset'; c+=' '+'--hard'; system(c)",
            &shell,
        ),
        (
            "python3",
            "system(' '.join(['git', 'reset', '--hard']))",
            &shell,
        ),
        ("python3", "v='reset'; system(f'git {v} --hard')", &shell),
        (
            "python3",
            "def git(*a): run(['git', *a])\ngit('reset', '--hard')",
            &words,
        ),
        (
            "node",
            "const a=['reset','--hard']; execFileSync('git', a)",
            &words,
        ),
        (
            "node",
            "['status','reset --hard'].forEach(a=>execSync('git '+a))",
            &shell,
        ),
        (
            "node",
            "const v='reset'; exec(`git ${v} --${'hard'}`)",
            &shell,
        ),
        ("ruby", "c = %w[git reset --hard]; system(*c)", &words),
        ("ruby", "v = 'reset'; system(\"git #{v} --hard\")", &shell),
        ("perl", "$c='git reset'; $c.=' --hard'; system $c", &shell),
        (
            "php",
            "$c = implode(' ', ['git','reset','--hard']); exec($c);",
            &shell,
        ),
    ] {
        let found = effects_of(program, source);
        assert!(found.contains(expected), "{source}: {found:?}");
    }
    // The name of a variable before its assignment, and after another one.
    for source in [
        "system(c); c='git reset --hard'",
        "c='git reset --hard'; c='git status'; system(c)",
    ] {
        assert!(!effects_of("python3", source).contains(&shell), "{source}");
    }
}

/// CAKE-SHIM-1: a command is no statement for a database, with any name.
#[test]
fn a_command_is_distinguished_from_a_statement() {
    let found = effects_of(
        "python3",
        "from subprocess import run; run('truncate -s 0 x.log', shell=True)",
    );
    assert!(
        found.contains(&Effect::Shell("truncate -s 0 x.log".to_owned())),
        "{found:?}"
    );
}
