//! The files that a command overwrites if they exist, independent of the verdict on it.
//!
//! It is for callers that save the tree first, like `data_loss`. They look up whether the files
//! exist. If a command only names the folder that it writes to, as one that unpacks an archive
//! does, that folder is reported, with a slash behind it.

use crate::{
    analyze::{Call, Subject, Unpacked, value::is_known},
    facts::Facts,
    link::{facts_of_entry, resolve},
    patch, path,
    path_class::{PathClass, place},
    protect,
};

/// Programs that format a file or set one value in it, or make it from sources that stay: what stood there is not lost by
/// accident.
const MAKERS: [&str; 41] = [
    "touch",
    "mkdir",
    "mktemp",
    "mkfifo",
    "mknod",
    "chmod",
    "chattr",
    "chown",
    "chgrp",
    "setfacl",
    "yq",
    "dasel",
    "crudini",
    "json",
    "sops",
    "xmlstarlet",
    "prettier",
    "gofmt",
    "goimports",
    "shfmt",
    "gofumpt",
    "clang-format",
    "autopep8",
    "yamlfmt",
    "dos2unix",
    "unix2dos",
    "gcc",
    "cc",
    "g++",
    "c++",
    "clang",
    "clang++",
    "ld",
    "rustc",
    "go",
    "tsc",
    "esbuild",
    "git",
    "apply_patch",
    "applypatch",
    "sqlite3",
];

/// Returns the files of the project that a command overwrites if they exist, and the folders in
/// which it may overwrite any, these with a slash behind them: absolute paths.
pub(crate) fn written_over(call: &Call, facts: &Facts) -> Vec<String> {
    if call.elsewhere {
        return Vec::new();
    }
    let mut paths: Vec<String> = Vec::new();
    let redirected = call.writes.iter().filter(|write| !write.appends);
    paths.extend(redirected.map(|write| write.path.clone()));
    if let Some(placed) = placed(call, facts).or_else(|| patched(call, facts)) {
        paths.extend(placed);
    } else if let Some(unpacked) = Unpacked::from_call(call, facts) {
        let folders = unpacked.within.iter().filter(|_| unpacked.overwrites);
        paths.extend(folders.map(|folder| format!("{folder}/")));
    } else if !appends(call, facts) && !MAKERS.contains(&call.name.as_str()) {
        let appended = |path: &String| {
            let mut writes = call.writes.iter();
            writes.any(|write| write.appends && write.path == *path)
        };
        let written = protect::writes(call, facts).into_iter();
        paths.extend(written.map(|(path, _)| path).filter(|path| !appended(path)));
    }
    let cwd = call.cwd.as_deref();
    let led_to = |path: &String| {
        // What a command links is replaced, and not what the link leads to from then on.
        let facts = facts_of_entry(&call.name, path, cwd, facts);
        let place = is_known(path).then(|| place(path, cwd, &facts));
        let is_own = place == Some(PathClass::Inside)
            || path.ends_with('/') && place == Some(PathClass::Project);
        let absolute = resolve(path, cwd, &facts);
        let slash = if path.ends_with('/') { "/" } else { "" };
        (is_own && absolute.starts_with('/')).then(|| format!("{absolute}{slash}"))
    };
    paths.iter().filter_map(led_to).collect()
}

/// Whether a program that writes its input to files appends to them.
fn appends(call: &Call, facts: &Facts) -> bool {
    matches!(call.name.as_str(), "tee" | "sponge") && {
        let subject = Subject::new(call, "", facts);
        subject.has("-a") || subject.has("--append")
    }
}

fn has(subject: &Subject<'_>, options: &[&str]) -> bool {
    options.iter().any(|option| subject.has(option))
}

/// Lists the files that programs overwrite which copy, move or link; `None` for any other program.
fn placed(call: &Call, facts: &Facts) -> Option<Vec<String>> {
    let name = call.name.trim_start_matches('g');
    let takes = match name {
        "install" => "-t --target-directory -S --suffix -m --mode -o --owner -g --group",
        "rsync" | "scp" => "-e -i -F -P -o -l --rsh --exclude --include --filter",
        "cp" | "mv" | "ln" => "-t --target-directory -S --suffix",
        _ => return None,
    };
    let subject = Subject::new(call, takes, facts);
    let spares: &[&str] = match name {
        "rsync" => &["-n", "--dry-run", "--ignore-existing", "-b", "--backup"],
        "install" => &["-d", "--directory", "-b", "--backup"],
        "scp" => &[],
        _ => &["-n", "--no-clobber", "-b", "--backup"],
    };
    // A link is only made if nothing is there, unless `--force` is given.
    if has(&subject, spares) || name == "ln" && !has(&subject, &["-f", "--force"]) {
        return Some(Vec::new());
    }
    let mut sources: Vec<&str> = Vec::new();
    let operands = subject.operands.iter();
    sources.extend(operands.map(|(word, _)| word.text.as_str()));
    let named = ["-t", "--target-directory"];
    let named = named.iter().find_map(|option| subject.value(option));
    let is_far = |path: &str| matches!(name, "rsync" | "scp") && path.contains(':');
    let to = named.filter(|_| name != "rsync" && name != "scp");
    let Some(to) = to.or_else(|| sources.pop()).filter(|to| !is_far(to)) else {
        return Some(Vec::new());
    };
    let takes_folders = match name {
        "rsync" => true,
        "cp" => has(&subject, &["-r", "-R", "-a", "--recursive", "--archive"]),
        "scp" => subject.has("-r"),
        _ => false,
    };
    let folder = to.trim_end_matches('/');
    let mut paths = Vec::new();
    if has(&subject, &["-T", "--no-target-directory"]) {
        let slash = if takes_folders { "/" } else { "" };
        return Some(vec![format!("{folder}{slash}")]);
    }
    if named.is_none() && !to.ends_with('/') {
        paths.push(to.to_owned());
    }
    for source in sources {
        let last = path::name(source.trim_end_matches('/'));
        // The contents of a folder, under any names.
        let is_inner = matches!(last, "." | "..")
            || name == "rsync" && source.ends_with('/')
            || last.contains(['*', '?', '['])
            || !is_known(last);
        let slash = if takes_folders { "/" } else { "" };
        paths.push(if is_inner {
            format!("{folder}/")
        } else {
            format!("{folder}/{last}{slash}")
        });
    }
    Some(paths)
}

/// Lists the files of a patch that is not made by an agent's own tool; `None` if it is no patch.
///
/// The names in a patch that is in a file are not known.
fn patched(call: &Call, facts: &Facts) -> Option<Vec<String>> {
    let takes = "-C -c -i --input -d --directory -p --strip -D -r -o --output -F --fuzz";
    let subject = Subject::new(call, takes, facts);
    let (folder, spares): (_, &[&str]) = match (call.name.as_str(), subject.operand(0)) {
        ("patch", _) => (
            ["-d", "--directory"]
                .iter()
                .find_map(|option| subject.value(option)),
            &["--dry-run", "-b", "--backup"],
        ),
        ("git", "apply") => (
            subject.value("-C"),
            &["--check", "--stat", "--numstat", "--summary", "--cached"],
        ),
        _ => return None,
    };
    if has(&subject, spares) {
        return Some(Vec::new());
    }
    if call.name == "patch" {
        let to = ["-o", "--output"];
        let to = to.iter().find_map(|option| subject.value(option));
        let first = Some(subject.operand(0)).filter(|first| !first.is_empty());
        if let Some(to) = to.or(first) {
            return Some(vec![to.to_owned()]);
        }
    }
    let folder = folder.unwrap_or(".");
    let named = patch::paths_of_diff(&protect::patch_text(call));
    Some(if named.is_empty() {
        vec![format!("{folder}/")]
    } else {
        let named = named.iter();
        named
            .map(|path| path::absolute(path, Some(folder)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use crate::{Facts, Policy, decide};

    fn overwritten(command: &str) -> Vec<String> {
        let facts = Facts::of_a_project();
        let verdict = decide(command, &facts, &Policy::default());
        assert!(!verdict.destroys, "{command}: {verdict:?}");
        let root = |path: &String| path.strip_prefix("/home/u/p/").unwrap().to_owned();
        verdict.overwrites.iter().map(root).collect()
    }

    /// CAKE-SNAP-1: a file that a command overwrites is reported, and none that it only makes or
    /// adds to.
    #[test]
    fn overwritten_files_are_reported() {
        for command in [
            "git show HEAD:f > f",
            "cat /dev/null > f",
            "echo -n > f",
            "printf '' > f",
            "cat x > f",
            "curl -o f https://example.org/x",
            "wget -O f https://example.org/x",
            "cat x | sponge f",
            "cat x | tee f",
            "ln -sfT /dev/null f",
            "sort -o f x",
            "bash -c 'echo x > f'",
            "dd if=/dev/zero of=f",
            "patch f < /tmp/x.diff",
            "sed -i s/a/b/ f",
            "sed -i.bak -e s/a/b/ f",
            "perl -pi -e s/a/b/ f",
            "ruby -i -pe 'sub(/a/, \"b\")' f",
            "patch -p1 <<'E'\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\nE",
        ] {
            let mut paths = overwritten(command);
            paths.dedup();
            assert_eq!(paths, ["f"], "{command}");
        }
        for command in [
            "echo x >> f",
            "echo x > /dev/null",
            "echo x > /tmp/f",
            "cat x | tee -a f",
            "cat f",
            "sed s/a/b/ f",
            "perl -pe s/a/b/ f",
            "awk '{print $1}' f",
            "touch f",
            "gcc -o f f.c",
            "curl https://example.org/x",
            "echo x > \"$OUT\"",
            "cp -n a.rs b.rs",
            "cp a.rs /tmp/a.rs",
            "mv --backup=numbered a b",
            "ln -s a b",
            "install -d a",
            "rsync -an a/ b/",
            "rsync -a a/ host:b/",
            "patch --dry-run -p1 < x.diff",
            "git apply --check x.diff",
            "tar tf x.tar",
            "tar xf x.tar -C /tmp/y",
            "tar xkf x.tar",
            "tar xOf x.tar a",
            "tar cf /tmp/x.tar .",
            "unzip x.zip",
            "unzip -l x.zip",
            "unzip -n x.zip",
            "7z x a.7z",
            "7z l a.7z -y",
            "unrar l -y a.rar",
            "cpio -t < a",
            "jar tf a.jar",
        ] {
            assert_eq!(overwritten(command), [""; 0], "{command}");
        }
    }

    /// CAKE-SNAP-1: what is put into a place may be written over there, under its own name or under that.
    #[test]
    fn what_is_copied_or_moved_may_be_put_over_what_is_there() {
        for (command, expected) in [
            (
                "cp -f /tmp/b.rs src/a.rs",
                &["src/a.rs", "src/a.rs/b.rs"][..],
            ),
            ("cp /dev/null a.rs", &["a.rs", "a.rs/null"]),
            ("mv -f b.rs a.rs", &["a.rs", "a.rs/b.rs"]),
            ("mv b.rs c.rs src/", &["src/b.rs", "src/c.rs"]),
            ("cp -t src a b", &["src/a", "src/b"]),
            ("cp -r /tmp/x src", &["src", "src/x/"]),
            ("cp -r /tmp/x/. src", &["src", "src/"]),
            ("cp /tmp/*.rs src/", &["src/"]),
            ("cp -aT /tmp/x src", &["src/"]),
            ("ln -sf a b", &["b", "b/a"]),
            ("rsync -a /tmp/x/ src/", &["src/"]),
            ("rsync -a /tmp/x src", &["src", "src/x/"]),
            ("install -m 644 /tmp/x a", &["a", "a/x"]),
        ] {
            assert_eq!(overwritten(command), expected, "{command}");
        }
    }

    /// CAKE-SNAP-1: files out of an archive or a patch may overwrite any file in the folder.
    #[test]
    fn the_folder_of_an_archive_or_a_patch_is_reported() {
        for (command, expected) in [
            ("tar xf /tmp/x.tar", &["/"][..]),
            ("tar -xzf /tmp/x.tgz -C src", &["src/"]),
            ("tar --extract --file=x.tar --directory src", &["src/"]),
            ("tar xf x.tar a/b c", &["a/b/", "c/"]),
            ("tar xf x.tar --strip-components=1 a", &["/"]),
            ("curl -s https://x.io/a.tgz | tar xz", &["/"]),
            ("bsdtar -xf x.zip", &["/"]),
            ("unzip -o x.zip -d src", &["src/"]),
            ("unzip -qo x.zip", &["/"]),
            ("yes | unzip x.zip", &["/"]),
            ("7z x a.7z -y -osrc", &["src/"]),
            ("unrar x -o+ a.rar src/", &["src/"]),
            ("cpio -idmu < a.cpio", &["/"]),
            ("find x -print | cpio -pd src", &["src/"]),
            ("jar xf a.jar", &["/"]),
            ("python3 -m zipfile -e a.zip src/", &["src/"]),
            ("patch -p1 < fix.diff", &["/"]),
            ("patch -d src -p1 -i /tmp/fix.diff", &["src/"]),
            ("git apply /tmp/fix.diff", &["/"]),
            ("git -C src apply -", &["src/"]),
            ("cd src && tar xf ../x.tar", &["src/"]),
        ] {
            let mut paths: Vec<String> = overwritten(command);
            for path in &mut paths {
                if path.is_empty() {
                    path.push('/');
                }
            }
            assert_eq!(paths, expected, "{command}");
        }
    }
}
