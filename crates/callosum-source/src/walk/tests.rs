//! Listing and reading against real folders.

use std::{
    ffi::OsStr,
    fs as std_fs,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::Path,
    sync::Arc,
};

use callosum_host::{
    Disk, OpenHow,
    disk::{FileHandle, FileStat, FileSystem, ListedEntry},
    process::Cancel,
};
use insta::assert_snapshot;
use tempfile::TempDir;

use super::*;
use crate::language::Language;

/// A folder with these files in it.
fn tree_of(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        put(folder.path(), path, text.as_bytes());
    }
    folder
}

#[expect(clippy::disallowed_methods, reason = "a fixture, not the product")]
fn put(root: &Path, path: impl AsRef<Path>, bytes: &[u8]) {
    let path = root.join(path);
    std_fs::create_dir_all(path.parent().unwrap()).unwrap();
    std_fs::write(path, bytes).unwrap();
}

fn read(root: &Path, scope: &[&str]) -> Result<SourceTree, WalkError> {
    let paths = scope.iter().map(|path| RelativePath::parse(path).unwrap());
    let scope = Scope {
        paths: paths.collect(),
    };
    SourceTree::read(&Disk::real(), root, &scope)
}

fn listed(root: &Path, scope: &[&str]) -> String {
    let tree = read(root, scope).unwrap();
    let files = tree.files.iter().map(|file| format!("{}\n", file.path));
    let skipped = tree
        .skipped
        .iter()
        .map(|skipped| format!("- {} ({})\n", skipped.path, skipped.why));
    files.chain(skipped).collect()
}

#[test]
fn a_scope_has_each_part_of_the_tree_once() {
    let of = |written: &[&str]| {
        let paths: Vec<RelativePath> = written
            .iter()
            .map(|path| RelativePath::parse(path).unwrap())
            .collect();
        let kept = Scope::of(&paths).paths;
        kept.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of(&["src", "docs", "src/", "./src"]), ["src", "docs"]);
    assert_eq!(of(&["src/a.rs", "src", "src2"]), ["src", "src2"]);
    assert_eq!(of(&["src", ".", "docs"]), [""; 0]);
    assert_eq!(of(&[]), [""; 0]);
}

#[test]
fn ignore_files_of_the_tree_are_obeyed_without_a_repository() {
    let folder = tree_of(&[
        (".gitignore", "*.log\n/target\n"),
        ("a.rs", ""),
        ("run.log", ""),
        ("target/debug/a.rs", ""),
        ("sub/.ignore", "made.py\n"),
        ("sub/made.py", ""),
        ("sub/own.py", ""),
        ("sub/target/kept.rs", ""),
        (".git/info/exclude", "private.txt\n"),
        ("private.txt", ""),
    ]);
    assert_snapshot!(listed(folder.path(), &[]), @r"
    a.rs
    sub/own.py
    sub/target/kept.rs
    ");
}

/// The nearer file counts more, one of `.ignore` more than one of git, and a line can take back another.
#[test]
fn ignore_files_count_in_gits_order() {
    let folder = tree_of(&[
        (".gitignore", "*.log\n/out/*\n!/out/kept.txt\nmade/\n"),
        (".ignore", "!wanted.log\n"),
        ("wanted.log", ""),
        ("other.log", ""),
        ("out/kept.txt", ""),
        ("out/gone.txt", ""),
        ("sub/.gitignore", "!own.log\nonly.txt\n"),
        ("sub/own.log", ""),
        ("sub/only.txt", ""),
        ("only.txt", ""),
        ("sub/made/a.rs", ""),
        ("made.rs", ""),
        ("deep/made", "a file, and no folder"),
    ]);
    assert_snapshot!(listed(folder.path(), &[]), @r"
    deep/made
    made.rs
    only.txt
    out/kept.txt
    sub/own.log
    wanted.log
    ");
}

/// REQ-SEC-001: an entry in the place of an ignore file that is none is not read, and is reported.
#[test]
fn what_is_no_ignore_file_is_not_read() {
    let folder = tree_of(&[("a.rs", ""), ("sub/b.rs", ""), ("huge/c.rs", "")]);
    symlink("/dev/zero", folder.path().join(".gitignore")).unwrap();
    let _socket = UnixListener::bind(folder.path().join("sub/.ignore")).unwrap();
    let huge = vec![b'\n'; (1 << 20) + 1];
    put(folder.path(), "huge/.gitignore", &huge);
    put(folder.path(), "dir/.gitignore/d.rs", b"");
    put(folder.path(), "dir/e.rs", b"");
    assert_snapshot!(listed(folder.path(), &[]), @r"
    a.rs
    dir/e.rs
    huge/c.rs
    sub/b.rs
    - .gitignore (symbolic link)
    - huge/.gitignore (too large: 1048577 bytes)
    - sub/.ignore (pipe, socket or device)
    ");
}

/// CAL-EXE-3: the same tree gives the same answer on every machine.
#[test]
fn ignore_files_above_the_root_are_not_looked_at() {
    let folder = tree_of(&[(".gitignore", "*.rs\n"), ("inner/a.rs", "")]);
    assert_snapshot!(listed(&folder.path().join("inner"), &[]), @"a.rs");
}

/// CAL-EXE-3: what the product keeps in a tree is no part of what it says about the tree.
#[test]
fn own_state_is_left_out_at_the_root_only() {
    let folder = tree_of(&[
        (".cal_memory.json", ""),
        ("registry.json", ""),
        ("cal_audit/a.jsonl", ""),
        ("loa-grimoire/NOTES.md", ""),
        ("src/registry.json", ""),
    ]);
    assert_snapshot!(listed(folder.path(), &[]), @"src/registry.json");
}

#[test]
fn hidden_files_are_left_out_but_those_about_the_build() {
    let folder = tree_of(&[
        (".env", "SECRET=1"),
        (".github/workflows/ci.yml", ""),
        (".github/.hidden", ""),
        (".venv/lib/a.py", ""),
        (".gitlab-ci.yml", ""),
    ]);
    assert_snapshot!(listed(folder.path(), &[]), @r"
    .github/workflows/ci.yml
    .gitlab-ci.yml
    ");
}

#[test]
fn a_search_lists_dotfiles_of_code_and_no_secrets() {
    let folder = tree_of(&[
        (".env", ""),
        (".env.js", ""),
        (".env.local", ""),
        (".env.production.ts", ""),
        (".eslintrc.js", ""),
        (".eslintrc.yml", ""),
        (".git-credentials.py", ""),
        (".github/workflows/ci.yml", ""),
        (".hidden.js/a.js", ""),
        (".mcp.json", ""),
        (".npmrc", ""),
        (".venv/lib/a.py", ""),
        ("web/.babelrc.cjs", ""),
    ]);
    let cancel = Cancel::new().unwrap();
    let read = SourceTree::read_for_search(&Disk::real(), folder.path(), &Scope::WHOLE, &cancel);
    let files: Vec<String> = read
        .unwrap()
        .files
        .into_iter()
        .map(|file| file.path)
        .collect();
    assert_eq!(
        files,
        [
            ".eslintrc.js",
            ".eslintrc.yml",
            ".github/workflows/ci.yml",
            "web/.babelrc.cjs",
        ]
    );
    assert_snapshot!(listed(folder.path(), &[]), @".github/workflows/ci.yml");
}

/// CAL-EXE-3: the same tree gives the same answer on every machine.
#[test]
fn the_order_is_that_of_the_path_bytes() {
    let folder = tree_of(&[("a/b", ""), ("a.b", ""), ("a-b", ""), ("B", ""), ("é", "")]);
    assert_snapshot!(listed(folder.path(), &[]), @r"
    B
    a-b
    a.b
    a/b
    é
    ");
}

#[test]
fn a_scope_lists_only_what_lies_in_it() {
    let folder = tree_of(&[
        ("a/one.rs", ""),
        ("a/deep/two.rs", ""),
        ("ab/three.rs", ""),
        ("four.rs", ""),
    ]);
    assert_snapshot!(listed(folder.path(), &["./a/"]), @r"
    a/deep/two.rs
    a/one.rs
    ");
    assert_snapshot!(listed(folder.path(), &["four.rs", "a/deep"]), @r"
    a/deep/two.rs
    four.rs
    ");
}

#[test]
fn a_scope_that_is_ignored_is_named() {
    let folder = tree_of(&[(".gitignore", "/target\n"), ("target/a.rs", "")]);
    assert_snapshot!(listed(folder.path(), &["target"]), @"- target (excluded by an ignore file)");
}

#[test]
fn a_scope_that_is_not_read_is_named_with_the_true_reason() {
    let folder = tree_of(&[
        (".env", ""),
        ("src/.idea/a.xml", ""),
        ("deep/a.rs", ""),
        ("cal_audit/a.jsonl", ""),
    ]);
    symlink("deep", folder.path().join("link")).unwrap();
    assert_snapshot!(listed(folder.path(), &[".env"]), @"- .env (hidden)");
    assert_snapshot!(listed(folder.path(), &["src/.idea/a.xml"]), @"- src/.idea/a.xml (hidden)");
    assert_snapshot!(listed(folder.path(), &["src"]), @"- src (nothing in it is read)");
    assert_snapshot!(listed(folder.path(), &["link/a.rs"]), @"- link (symbolic link)");
    assert_snapshot!(
        listed(folder.path(), &["cal_audit"]),
        @"- cal_audit (belongs to Callosum or git, not source)"
    );
}

#[test]
fn a_scope_that_is_missing_or_leaves_the_tree_is_refused() {
    let folder = tree_of(&[("a.rs", "")]);
    let outside = tree_of(&[("secret.rs", "")]);
    symlink(outside.path(), folder.path().join("out")).unwrap();
    let refused = |path| read(folder.path(), &[path]).unwrap_err().to_string();
    assert_snapshot!(refused("gone/x"), @"`gone/x` does not exist in the tree");
    assert_snapshot!(refused("out/secret.rs"), @"`out/secret.rs` points outside the tree through a link");
    assert_snapshot!(RelativePath::parse("a/../../b").unwrap_err(), @"`a/../../b` leaves the tree");
    assert_snapshot!(
        RelativePath::parse("/etc").unwrap_err(),
        @"`/etc` is absolute; a path below the root is needed"
    );
    assert_eq!(RelativePath::parse("./a//b/../c").unwrap().as_str(), "a/c");
}

#[test]
fn a_root_that_is_no_folder_is_refused() {
    let folder = tree_of(&[("a.rs", "")]);
    let error = read(&folder.path().join("a.rs"), &[]).unwrap_err();
    assert!(matches!(error, WalkError::NotAFolder { .. }), "{error}");
    let error = read(&folder.path().join("none"), &[]).unwrap_err();
    assert!(matches!(error, WalkError::Disk(_)), "{error}");
}

#[test]
fn links_sockets_and_odd_names_are_named_and_not_read() {
    let folder = tree_of(&[("a.rs", "")]);
    symlink("a.rs", folder.path().join("link.rs")).unwrap();
    symlink("..", folder.path().join("loop")).unwrap();
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    put(folder.path(), OsStr::from_bytes(b"odd\xff/name.rs"), b"");
    put(folder.path(), OsStr::from_bytes(b"\xff.rs"), b"");
    let listed = listed(folder.path(), &[]);
    assert_snapshot!(listed, @r"
    a.rs
    - link.rs (symbolic link)
    - loop (symbolic link)
    - odd� (name is not UTF-8)
    - socket (pipe, socket or device)
    - �.rs (name is not UTF-8)
    ");
}

#[test]
fn headers_belong_to_the_language_of_their_tree() {
    let language = |files: &[(&str, &str)]| {
        let folder = tree_of(files);
        let tree = read(folder.path(), &[]).unwrap();
        tree.files.last().unwrap().language
    };
    assert_eq!(language(&[("a.cpp", ""), ("z.h", "")]), Some(Language::Cpp));
    assert_eq!(language(&[("a.c", ""), ("z.h", "")]), Some(Language::C));
}

/// CAL-EXE-3: unreadable, binary, huge and foreign files are named, never fatal.
#[test]
fn invalid_text_is_reported_when_it_is_read() {
    let folder = tree_of(&[("bom.rs", "\u{feff}fn main() {}")]);
    put(folder.path(), "binary", b"\x7fELF\0\0");
    put(folder.path(), "latin.c", b"/* \xe9 */");
    put(folder.path(), "limit", &vec![b'a'; MAX_TEXT_BYTES as usize]);
    put(
        folder.path(),
        "over",
        &vec![b'a'; MAX_TEXT_BYTES as usize + 1],
    );
    let tree = read(folder.path(), &[]).unwrap();
    let texts = tree.map_texts(&Disk::real(), |_, text| text.len());
    let over = Why::TooLarge(MAX_TEXT_BYTES + 1);
    assert_eq!(
        texts,
        [
            Err(Why::Binary),
            Ok(12),
            Err(Why::NotUtf8),
            Ok(MAX_TEXT_BYTES as usize),
            Err(over)
        ]
    );
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a fixture, not the product")]
fn changes_since_the_listing_are_reported_and_not_opened() {
    let folder = tree_of(&[("gone.rs", ""), ("pipe.rs", ""), ("still.rs", "x")]);
    let tree = read(folder.path(), &[]).unwrap();
    for name in ["gone.rs", "pipe.rs"] {
        std_fs::remove_file(folder.path().join(name)).unwrap();
    }
    let _socket = UnixListener::bind(folder.path().join("pipe.rs")).unwrap();
    let gone = Why::Unreadable("no longer there".to_owned());
    assert_eq!(
        tree.map_texts(&Disk::real(), |_, text| text),
        [Err(gone), Err(Why::Special), Ok("x".to_owned())]
    );
}

/// Refuses to open every file, as another user's folder would.
struct Refusing;

impl FileSystem for Refusing {
    fn open(&self, _: &Path, _: OpenHow) -> std::io::Result<Box<dyn FileHandle>> {
        Err(std::io::ErrorKind::PermissionDenied.into())
    }
    fn stat(&self, path: &Path) -> std::io::Result<FileStat> {
        let found = std_fs::symlink_metadata(path)?;
        Ok(FileStat {
            kind: callosum_host::disk::EntryKind::File,
            len: found.len(),
            modified: found.modified()?,
            id: None,
            names: 1,
        })
    }
    fn create_dir(&self, _: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn rename(&self, _: &Path, _: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn hard_link(&self, _: &Path, _: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn remove_file(&self, _: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn remove_dir(&self, _: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn sync_dir(&self, _: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn list_dir(&self, _: &Path) -> std::io::Result<Vec<ListedEntry>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
    fn canonicalize(&self, path: &Path) -> std::io::Result<std::path::PathBuf> {
        std_fs::canonicalize(path)
    }
}

#[test]
fn a_file_that_may_not_be_opened_is_named_with_the_reason() {
    let folder = tree_of(&[("a.rs", "x")]);
    let tree = read(folder.path(), &[]).unwrap();
    let texts = tree.map_texts(&Disk::with(Arc::new(Refusing)), |_, text| text);
    assert_eq!(
        texts,
        [Err(Why::Unreadable("permission denied".to_owned()))]
    );
}
