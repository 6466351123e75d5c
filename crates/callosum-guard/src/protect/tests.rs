//! Protected files, by the ways in which they are written.

use super::{decide_write, writer::WRITERS, writes::by_table};
use crate::{
    Decision, Facts, Policy,
    analyze::{Call, value::Arg},
    decide,
};

/// A command for each row of the table, which writes `.calrc` by it.
const EXAMPLES: &str = "
tee -a .calrc
rustfmt .calrc
black .calrc
truncate -s 10 .calrc
fallocate -l 1M .calrc
mkfifo .calrc
touch -d now .calrc
mkdir -p .calrc
rm -f .calrc
trash .calrc
grm .calrc
del .calrc
gio trash .calrc
gio move .calrc x
chmod 600 .calrc
chattr +i .calrc
chown --from=a b .calrc
setfacl -m u:x:rw .calrc
dos2unix .calrc
gzip -9 .calrc
gunzip -f .calrc.gz
bunzip2 .calrc.bz2
unxz .calrc.xz
unzstd .calrc.zst
gzip -d .calrc.gz
xz --decompress .calrc.xz
zstd x -o .calrc
rename s/a/b/ .calrc
rename.ul a b .calrc
mmv a .calrc
sort x -o .calrc
shuf --output=.calrc x
uniq -c a .calrc
split -l 100 x .calrc
csplit -f .calrc x 1
yq -i .a=1 .calrc
dasel put -f .calrc -v 1 a
crudini --set .calrc a b c
json -I -f .calrc -e x
sops --in-place .calrc
xmlstarlet ed -L -u a -v b .calrc
prettier --write .calrc
rustfmt --edition 2024 .calrc
black -l 99 .calrc
shfmt -w .calrc
clang-format -i .calrc
eslint -o .calrc src
xxd -r x .calrc
iconv -f a -t b -o .calrc x
openssl enc -in x -out .calrc
gpg --output .calrc -d x
pandoc x.md -o .calrc
dot -Tsvg -o .calrc x
gcc x.c -o .calrc
rustc -o .calrc x.rs
go build -o .calrc ./x
esbuild --outfile=.calrc x
objcopy a .calrc
strip -o .calrc a
strip .calrc
strace -o .calrc ls
gtime -o .calrc ls
perf record -o .calrc ls
magick a.png .calrc
ffmpeg -i a.mp4 .calrc
yt-dlp -o .calrc x
tcpdump -w .calrc
mysqldump --result-file=.calrc x
pg_dump -f .calrc x
psql -c x -o .calrc
mongodump --out .calrc
terraform plan -out .calrc
docker cp c:/x .calrc
aws s3 cp s3://b/x .calrc
rclone copyto r:x .calrc
sftp h:x .calrc
git checkout-index --prefix .calrc -a
git apply --directory .calrc x.patch
valgrind --log-file .calrc ls
mktemp .calrc
7z x a.7z -o.calrc
zip -r .calrc src
unzip x.zip -d .calrc
cpio -pd .calrc
git diff --output=.calrc
git log --output=.calrc
git show HEAD --output=.calrc
git archive HEAD -o .calrc
git format-patch -o .calrc main
git bundle create .calrc HEAD
gh repo clone a/b .calrc
git checkout main .calrc
git restore .calrc
git rm .calrc
git rm --cached .calrc
git mv a .calrc
git mv .calrc a
";

/// CAKE-SHIM-1: each row of the table finds what its program writes, and that is held against it.
#[test]
fn each_program_is_known_by_what_it_writes() {
    let facts = Facts {
        cwd: Some("/home/a/shop".to_owned()),
        root: Some("/home/a/shop".to_owned()),
        ..Facts::default()
    };
    let written = |line: &str, writer| {
        let words: Vec<Arg> = line.split(' ').map(Arg::plain).collect();
        let call = Call {
            name: words[0].text.clone(),
            words,
            ..Call::default()
        };
        let mut all = Vec::new();
        by_table(writer, &call, &facts, &mut all);
        all.iter().any(|(path, _)| path == ".calrc")
    };
    let examples: Vec<&str> = EXAMPLES.lines().filter(|line| !line.is_empty()).collect();
    for writer in WRITERS {
        let is_its = |line: &&&str| {
            let name = line.split(' ').next().unwrap_or("");
            writer.names.split(' ').any(|one| one == name) && written(line, writer)
        };
        assert!(examples.iter().any(|line| is_its(&line)), "{writer:?}");
    }
    for line in examples {
        let verdict = decide(line, &facts, &Policy::default());
        assert_eq!(verdict.decision, Decision::Block, "{line}: {verdict:?}");
    }
}

/// CAKE-SHIM-1: a program that only reads a protected file is allowed, as is one that writes it
/// elsewhere.
#[test]
fn what_is_only_read_is_not_held_against_a_program() {
    let facts = Facts {
        cwd: Some("/home/a/shop".to_owned()),
        root: Some("/home/a/shop".to_owned()),
        ..Facts::default()
    };
    for line in [
        "sort .calrc -o out",
        "uniq .calrc out",
        "split -l 5 .calrc part",
        "gzip -c .calrc",
        "gunzip -l .calrc",
        "unzip -l .calrc",
        "yq .a .calrc",
        "prettier --check .calrc",
        "rustfmt --check .calrc",
        "black --check .calrc",
        "tar -cf /tmp/x.tar -C .git .",
        "tar -tf .calrc",
        "docker cp .calrc c:/x",
        "docker run alpine cat .calrc",
        "git diff .calrc",
        "git config -f .calrc --list",
        "sqlite3 .calrc 'select 1'",
        "sed -n 'w out' .calrc",
        "awk '{print > \"out\"}' .calrc",
        "curl -T .calrc -o out http://x.io",
        "wget -P /tmp http://x.io/y",
        "gcc -o out -x c .calrc",
    ] {
        let verdict = decide(line, &facts, &Policy::default());
        assert_eq!(verdict.decision, Decision::Allow, "{line}: {verdict:?}");
    }
}

/// CAKE-SHIM-1: where our records are there, a pattern that takes one in is a write of it; that of
/// everything is asked about as such.
#[test]
fn a_pattern_takes_in_what_is_there() {
    let of = |initialised, command: &str| {
        let facts = Facts {
            cwd: Some("/home/a/shop".to_owned()),
            root: Some("/home/a/shop".to_owned()),
            initialised,
            ..Facts::default()
        };
        crate::decide(command, &facts, &Policy::default()).decision
    };
    for command in [
        "rm *.json",
        "sed -i s/a/b/ *.json",
        "rm -f re*.json",
        "find . -name '*.json' -delete",
        "find . -name '*.jsonl' -delete",
        "find /home/a/shop -name '2026-*.jsonl' -exec rm {} +",
        "find . -name '*.jsonl' | xargs rm",
        "rm **/*.jsonl",
    ] {
        assert_eq!(of(true, command), Decision::Block, "{command}");
        assert_eq!(of(false, command), Decision::Allow, "{command}");
    }
    for command in [
        "git stash -u",
        "git stash push --include-untracked -m wip",
        "git stash --all",
        "git stash save -u wip",
    ] {
        assert_eq!(of(true, command), Decision::Block, "{command}");
        assert_eq!(of(false, command), Decision::Allow, "{command}");
    }
    for command in [
        "git stash",
        "git stash push -m -u",
        "git stash push -u -- src",
        "git stash list",
        "cat *.json",
        "rm -f dist/*.json",
        "rm *.js",
        "rm *.jsonl",
        "rm data/**/*.jsonl",
        "find data -name '*.jsonl' -delete",
        "find . -name '*.log' -delete",
        "find . -name '*.jsonl' | xargs cat",
        "ls *.jsonl | xargs rm",
    ] {
        assert_eq!(of(true, command), Decision::Allow, "{command}");
    }
    assert_eq!(of(true, "rm -rf *"), Decision::Ask);
}

/// CAKE-SHIM-1: what all worktrees of a repository share is not written from one of them, the
/// project's records among it.
#[test]
fn a_linked_worktree_does_not_write_the_shared_repository() {
    let facts = Facts {
        cwd: Some("/home/a/topic".to_owned()),
        root: Some("/home/a/topic".to_owned()),
        home: Some("/home/a".to_owned()),
        state: Some("/home/a/shop".to_owned()),
        git_dir: Some("/home/a/shop/.git/worktrees/topic".to_owned()),
        worktree: true,
        ..Facts::default()
    };
    for path in ["../shop/.git/config", "../shop/.git/hooks/pre-commit"] {
        let verdict = decide_write(path, &facts, &Policy::default());
        assert_eq!(verdict.rule.as_deref(), Some("protect.git"), "{path}");
    }
    for path in [
        "../shop/.calrc",
        "../shop/cal_audit/x",
        "../shop/.cal_lock/x",
    ] {
        let verdict = decide_write(path, &facts, &Policy::default());
        assert_eq!(verdict.rule.as_deref(), Some("protect.state"), "{path}");
    }
    let verdict = decide_write("../shop/src/a.rs", &facts, &Policy::default());
    assert_eq!(verdict.rule.as_deref(), Some("protect.outside"));
}

/// CAKE-SHIM-1: a model may write its client's plans and memories; files next to them it may not.
#[test]
fn what_clients_keep_for_their_models_is_written() {
    let facts = Facts {
        home: Some("/home/u".to_owned()),
        ..Facts::of_a_project()
    };
    let rule = |path: &str| {
        let path = format!("/home/u/{path}");
        decide_write(&path, &facts, &Policy::default()).rule
    };
    for path in [
        ".claude/plans/a-plan.md",
        ".claude/projects/-home-u-p/memory/MEMORY.md",
        ".gemini/tmp/abc/plans/x.md",
        ".gemini/tmp/abc/0f3/plans/x.md",
        ".qwen/todos/x.json",
    ] {
        assert_eq!(rule(path), None, "{path}");
    }
    for path in [
        ".claude/plans/run.sh",
        ".claude/plans/.md",
        ".claude/plans/a/b.md",
        ".claude/projects/p/notes.md",
        ".claude/CLAUDE.md",
        ".claude/commands/x.md",
        ".gemini/GEMINI.md",
        ".gemini/tmp/abc/x.md",
        ".qwen/todos/x.sh",
        "other/.claude/plans/x.md",
    ] {
        assert_eq!(rule(path).as_deref(), Some("protect.outside"), "{path}");
    }
    for path in [
        ".claude/settings.json",
        ".claude/plans/../settings.json",
        ".gemini/tmp/../settings.json",
    ] {
        assert_eq!(rule(path).as_deref(), Some("protect.hooks"), "{path}");
    }
}

/// CAKE-SHIM-1: files that steer the guard outside of the project are not written, but for folders
/// in it that are for everybody's use.
#[test]
fn what_steers_the_guard_is_not_written() {
    let text = |text: &str| text.to_owned();
    let facts = Facts {
        cwd: Some(text("/home/a/shop")),
        root: Some(text("/home/a/shop")),
        home: Some(text("/home/a")),
        free: vec![text("/tmp"), text("/tmp/state/scratch/1")],
        kept: vec![text("/tmp/state"), text("/home/a/.config/cake_config.yaml")],
        ..Facts::default()
    };
    for (path, rule) in [
        ("/tmp/state/permissions/user.json", Some("protect.state")),
        ("/tmp/state/scratch/1/x", None),
        ("/tmp/states", None),
        ("../.config/cake_config.yaml", Some("protect.state")),
        ("src/lib.rs", None),
    ] {
        let verdict = decide_write(path, &facts, &Policy::default());
        assert_eq!(verdict.rule.as_deref(), rule, "{path}");
        let command = format!("echo x > {path}");
        let verdict = crate::decide(&command, &facts, &Policy::default());
        assert_eq!(verdict.rule.as_deref(), rule, "{command}");
    }
}

/// CAKE-SHIM-1: what is put into a folder outside of the project is outside, under any name, and so
/// is what comes from elsewhere onto a protected file.
#[test]
fn what_is_put_into_a_folder_is_judged_by_where_it_comes_to_lie() {
    let facts = Facts::of_a_project();
    let rule = |command: &str| {
        let verdict = decide(command, &facts, &Policy::default());
        verdict.rule.unwrap_or_default()
    };
    for command in [
        "cp README.md ~/",
        "cp README.md ~",
        "cp README.md ../",
        "mv README.md ~/",
        "mv -t .. README.md",
        "cp -t ~ a b",
        "cp -r dotfiles/. ~/",
        "rsync -a dotfiles/ ~/",
        "wget -P ~ https://x.io/a",
        "dd if=README.md of=~/x",
        "install -m 755 x ~/bin/",
    ] {
        assert_eq!(rule(command), "protect.outside", "{command}");
    }
    for (command, expected) in [
        ("cp dotfiles/.bashrc ~/", "protect.startup"),
        ("unzip a.zip .calrc", "protect.state"),
        ("unzip -o a.zip 'x/*' registry.json", "protect.state"),
        ("tar xf a.tar .calrc", "protect.state"),
        ("scp web1:settings.json .claude/", "protect.hooks"),
        ("gh repo clone a/b ~/.claude", "protect.hooks"),
        (
            "cp settings.json.bak .claude/settings.json",
            "protect.hooks",
        ),
    ] {
        assert_eq!(rule(command), expected, "{command}");
    }
    for command in [
        "cp README.md docs/",
        "cp -r src/. build/",
        "cp README.md /tmp/",
        "cp ../x/README.md .",
        "mv a.txt docs/",
        "rsync -a src/ web1:/srv/",
        "scp README.md web1:",
        "unzip a.zip docs/x",
        "gh repo clone a/b",
        "gh repo clone a/b ../b",
        "gh repo view a/b",
        "cp .claude/settings.json .claude/settings.json.bak",
        "git clone https://x.io/a ../a",
        "mkdir ../other",
    ] {
        assert_eq!(rule(command), "", "{command}");
    }
    let write = |path: &str| decide_write(path, &facts, &Policy::default()).decision;
    assert_eq!(write(".claude/settings.json.bak"), Decision::Allow);
    assert_eq!(write(".claude/settings.local.json"), Decision::Block);
}
