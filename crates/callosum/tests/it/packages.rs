//! The packages that `cargo xtask dist` makes, and the program of one of them in a root without anything else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use callosum_testkit::fakes;

/// The repository that the packages are made of.
fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap().to_owned()
}

/// Runs a program of this machine. Panics with its messages if it fails.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("cannot start {}: {error}", command.get_program().display())
    });
    success(command, output)
}

fn success(command: &Command, output: Output) -> String {
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Packages in a temporary folder, of the program that this test was built with.
struct Packages {
    folder: tempfile::TempDir,
}

impl Packages {
    /// Makes them. Debug information would be most of their size, so it is removed first.
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("callosum");
        let strip = Command::new("strip")
            .arg("-o")
            .args([&program, &fakes::program("callosum")])
            .output()
            .expect("strip comes with the linker that built this test");
        assert!(strip.status.success(), "{strip:?}");
        run(Command::new(fakes::program("xtask"))
            .current_dir(repository())
            .args(["dist", "--program"])
            .arg(&program)
            .arg("--out")
            .arg(folder.path().join("out")));
        Self { folder }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Returns the package whose name ends like this.
    fn find(&self, ending: &str) -> PathBuf {
        let mut entries = fs::read_dir(self.out()).unwrap();
        let found = entries.find_map(|entry| {
            let path = entry.unwrap().path();
            path.to_str().unwrap().ends_with(ending).then_some(path)
        });
        found.unwrap_or_else(|| panic!("no package ends in {ending}"))
    }
}

/// Returns the paths in a compressed tar file, without its first folder.
fn list(archive: &[u8]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive.tar.gz");
    fs::write(&file, archive).unwrap();
    let names = run(Command::new("tar").arg("-tzf").arg(&file));
    names
        .lines()
        .filter_map(|name| name.split_once('/'))
        .map(|(_, path)| path.to_owned())
        .collect()
}

fn assert_has(found: &BTreeSet<String>, expected: &[&str]) {
    for path in expected {
        assert!(found.contains(*path), "{path} is missing of {found:#?}");
    }
}

/// Each package has the program, completions, a manual for each command, licenses and checksums, and the sums of the packages
/// themselves are right.
#[test]
fn packages_have_program_completions_manuals_licenses_and_sums() {
    let packages = Packages::make();
    let sums = fs::read_to_string(packages.out().join("SHA256SUMS")).unwrap();
    let named: Vec<&str> = sums.lines().map(|line| &line[66..]).collect();
    let mut files: Vec<String> = fs::read_dir(packages.out())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "SHA256SUMS")
        .collect();
    files.sort();
    assert_eq!(named, files);
    for (line, name) in sums.lines().zip(&files) {
        let bytes = fs::read(packages.out().join(name)).unwrap();
        let sum = callosum_json::Checksum::of(&bytes).to_string();
        assert_eq!(line, format!("{sum}  {name}"));
    }

    let archive = list(&fs::read(packages.find(".tar.gz")).unwrap());
    assert_has(
        &archive,
        &[
            "bin/callosum",
            "share/bash-completion/completions/callosum",
            "share/zsh/site-functions/_callosum",
            "share/fish/vendor_completions.d/callosum.fish",
            "share/man/man1/callosum.1",
            "share/man/man1/callosum-mesh-task-add.1",
            "share/doc/callosum/LICENSE-MIT",
            "share/doc/callosum/LICENSE-AGPL",
            "share/doc/callosum/NOTICE",
            "share/doc/callosum/README.md",
            "share/doc/callosum/CHANGELOG.md",
            "share/doc/callosum/THIRD-PARTY-LICENSES.txt",
            "share/callosum/manifest.json",
        ],
    );
    let npm = list(&fs::read(packages.find(".tgz")).unwrap());
    assert_has(
        &npm,
        &["package.json", "bin/callosum", "README.md", "LICENSE-MIT"],
    );
    #[cfg(target_os = "linux")]
    check_debian_package(&packages);
}

/// Checks that a `.deb` has its members in the order that dpkg requires, and its files where Debian looks for them.
#[cfg(target_os = "linux")]
fn check_debian_package(packages: &Packages) {
    let deb = packages.find(".deb");
    let ar = |mode: &str, member: &[&str]| {
        let mut command = Command::new("ar");
        let output = command.arg(mode).arg(&deb).args(member).output();
        let output = output.expect("ar comes with the linker that built this test");
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let members = String::from_utf8(ar("t", &[])).unwrap();
    assert_eq!(members, "debian-binary\ncontrol.tar.gz\ndata.tar.gz\n");
    assert_eq!(ar("p", &["debian-binary"]), b"2.0\n");
    let control = packages.folder.path().join("control.tar.gz");
    fs::write(&control, ar("p", &["control.tar.gz"])).unwrap();
    let control = run(Command::new("tar")
        .arg("-xzOf")
        .arg(&control)
        .arg("control"));
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        "Package: callosum\n".to_owned(),
        format!("Version: {version}\n"),
        "Depends: libc6 (>= 2.".to_owned(),
        "Recommends: git\n".to_owned(),
    ] {
        assert!(control.contains(&line), "{line} is missing of {control}");
    }
    let data = list(&ar("p", &["data.tar.gz"]));
    assert_has(
        &data,
        &[
            "bin/callosum",
            "share/bash-completion/completions/callosum",
            "share/zsh/vendor-completions/_callosum",
            "share/man/man1/callosum.1.gz",
            "share/doc/callosum/copyright",
            "share/doc/callosum/changelog.gz",
            "share/callosum/manifest.json",
        ],
    );
}

/// A root folder that holds an unpacked archive, git, and the shared libraries of both.
#[cfg(target_os = "linux")]
struct Root {
    folder: tempfile::TempDir,
}

#[cfg(target_os = "linux")]
impl Root {
    /// Unpacks an archive into an empty root.
    fn with(archive: &Path) -> Self {
        let root = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in [
            "dev",
            "proc",
            "root",
            "tmp",
            "usr/bin",
            "usr/local",
            "project",
        ] {
            fs::create_dir_all(root.path(folder)).unwrap();
        }
        for device in ["dev/null", "dev/urandom"] {
            fs::write(root.path(device), "").unwrap();
        }
        run(Command::new("tar")
            .args(["--strip-components=1", "--no-same-owner", "-xzf"])
            .arg(archive)
            .arg("-C")
            .arg(root.path("usr/local")));
        let git = run(Command::new("sh").args(["-c", "command -v git"]));
        let git = PathBuf::from(git.trim());
        fs::copy(&git, root.path("usr/bin/git")).unwrap();
        root.copy_libraries(&git);
        root.copy_libraries(&root.path("usr/local/bin/callosum"));
        root
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    /// Copies the libraries that `ldd` lists, to the paths at which the program looks for them.
    fn copy_libraries(&self, program: &Path) {
        let listed = run(Command::new("ldd").arg(program));
        for path in listed
            .split_whitespace()
            .filter(|word| word.starts_with('/'))
        {
            let copy = self.path(path.trim_start_matches('/'));
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(path, copy).unwrap();
        }
    }

    /// Runs a program of the root, in namespaces in which nothing outside of the root can be found. Every system has `/proc`,
    /// `/dev/null` and `/dev/urandom`, so these are the machine's.
    fn output(&self, arguments: &[&str]) -> Output {
        const ENTER: &str = r#"
            root=$1; shift
            mount --rbind /proc "$root/proc" || exit 125
            for device in dev/null dev/urandom; do mount --bind "/$device" "$root/$device" || exit 125; done
            exec chroot "$root" "$@"
        "#;
        let mut command = Command::new("unshare");
        command
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                ENTER,
                "sh",
            ])
            .arg(self.folder.path())
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin")
            .env("HOME", "/root")
            .env("TZ", "UTC");
        let output = command.output().expect("util-linux is installed");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() != Some(125) && !error.contains("unshare: "),
            "this test needs user and mount namespaces, and this machine refuses them: {error}"
        );
        output
    }

    /// Runs a program of the root to its end. Panics if it fails.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

#[cfg(target_os = "linux")]
impl Drop for Root {
    fn drop(&mut self) {
        // A test that failed may have left its daemon.
        if self
            .path("root/.local/state/callosum/mesh/serve.json")
            .exists()
        {
            drop(self.output(&["callosum", "serve", "stop"]));
        }
    }
}

/// Without Rust, Python, a shell or any file of this machine, the program of an archive sets up a project, answers from it and
/// serves it.
#[cfg(target_os = "linux")]
#[test]
fn an_archive_works_in_a_root_with_nothing_but_git() {
    let packages = Packages::make();
    let root = Root::with(&packages.find(".tar.gz"));
    let absent = root.output(&["python3", "--version"]);
    assert_eq!(absent.status.code(), Some(127), "{absent:?}");

    let version = root.run(&["callosum", "--version"]);
    let expected = concat!("callosum ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(version, expected);
    fs::write(
        root.path("project/pool.py"),
        "def connect():\n    return 4\n",
    )
    .unwrap();
    root.run(&["git", "-C", "/project", "init", "--quiet"]);
    root.run(&["git", "-C", "/project", "add", "--all"]);
    let callosum = ["callosum", "-C", "/project"];
    root.run(&[&callosum[..], &["init", "--ledger", "--yes"]].concat());
    let answer = root.run(&[&callosum[..], &["delegate", "Map this repository"]].concat());
    assert!(answer.contains("pool.py:1"), "{answer}");

    let checked = root.run(&["callosum", "self", "check"]);
    assert!(checked.contains("files: "), "{checked}");
    assert!(checked.contains("as in release"), "{checked}");
    assert!(!checked.contains("warning"), "{checked}");

    let any = "127.0.0.1:0";
    root.run(&[
        "callosum",
        "serve",
        "--detach",
        "--events",
        any,
        "--bus",
        any,
        "--metrics",
        any,
        "--page",
        any,
    ]);
    let status = root.run(&["callosum", "serve", "status"]);
    assert!(status.contains("127.0.0.1:"), "{status}");
    let open = ["open", "--print", "--view", "ledger"];
    let address = root.run(&[&callosum[..], &open].concat());
    let address = address.trim().strip_prefix("http://").unwrap();
    let (host, path) = address.split_at(address.find('/').unwrap());
    let mut page = std::net::TcpStream::connect(host).unwrap();
    std::io::Write::write_all(
        &mut page,
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes(),
    )
    .unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut page, &mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("Map this repository"), "{answer}");
    let checked = root.run(&["callosum", "self", "check"]);
    assert!(checked.contains("has this version"), "{checked}");
    root.run(&["callosum", "serve", "stop"]);
    let status = root.output(&["callosum", "serve", "status"]);
    assert_eq!(status.status.code(), Some(1), "{status:?}");
}
