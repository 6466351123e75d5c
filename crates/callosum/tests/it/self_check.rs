//! `callosum self check`: copies on PATH, files of a release, hooks and daemons of another copy.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;

use callosum_testkit::{Output, TestEnv, fakes};
use serde_json::{Value, json};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Installs the program below a prefix, as an archive does. Returns its path.
fn install(prefix: &Path) -> PathBuf {
    let program = prefix.join("bin/callosum");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::create_dir_all(prefix.join("share/callosum")).unwrap();
    // A copy would be hundreds of megabytes.
    if fs::hard_link(fakes::program("callosum"), &program).is_err() {
        fs::copy(fakes::program("callosum"), &program).unwrap();
    }
    program
}

/// Writes the manifest of a release with these files, of the version of this program unless another is given.
fn write_manifest(prefix: &Path, version: &str, files: &[(&str, &[u8])]) {
    let rows = files.iter().map(|(path, bytes)| {
        json!({
            "path": path,
            "size": bytes.len(),
            "sha256": callosum_json::Checksum::of(bytes).to_string(),
        })
    });
    let manifest = json!({
        "format": 1,
        "version": version,
        "target": "x86_64-unknown-linux-gnu",
        "package": "archive",
        "glibc": "2.28",
        "files": rows.collect::<Vec<_>>(),
    });
    fs::write(
        prefix.join("share/callosum/manifest.json"),
        manifest.to_string(),
    )
    .unwrap();
}

/// Writes a program that prints a version as another copy of ours would.
fn write_copy(path: &Path, version: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\necho callosum {version}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the check of an installed program, with its folder on PATH before those given.
fn check(env: &TestEnv, program: &Path, more: &str) -> Output {
    let folder = program.parent().unwrap().display();
    let run = env.program(program.to_owned());
    let run = run.env("PATH", format!("{folder}:{more}/usr/bin:/bin"));
    run.arguments(["self", "check", "--json"]).run()
}

/// Returns the outcome, text and hint of the check with this name.
fn line<'a>(output: &'a Value, name: &str) -> (&'a str, &'a str, Option<&'a str>) {
    let checks = output["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no check {name}: {output:#}"));
    let text = |key: &str| found[key].as_str();
    (
        text("outcome").unwrap(),
        text("found").unwrap(),
        text("hint"),
    )
}

#[test]
fn files_of_a_release_are_compared_with_its_manifest() {
    let env = TestEnv::new();
    let prefix = env.folder().join("prefix");
    let program = install(&prefix);
    let page = prefix.join("share/page");
    fs::write(&page, "as released").unwrap();
    write_manifest(&prefix, VERSION, &[("share/page", b"as released")]);

    let output = check(&env, &program, "").success().json();
    let expected = format!("1 file as in release {VERSION} (archive)");
    assert_eq!(line(&output, "files"), ("ok", &*expected, None));
    assert_eq!(output["healthy"], true);
    assert_eq!(output["program"], program.to_str().unwrap());
    assert_eq!(line(&output, "path").0, "ok");

    fs::write(&page, "changed since").unwrap();
    let output = check(&env, &program, "").ended_with(1).json();
    let (outcome, found, hint) = line(&output, "files");
    assert_eq!(outcome, "failed");
    assert!(found.contains("share/page"), "{found}");
    assert!(hint.unwrap().starts_with("tar -xzf callosum-"), "{hint:?}");

    // Debian's images leave documentation out, so a missing file is no failure.
    fs::remove_file(&page).unwrap();
    let output = check(&env, &program, "").success().json();
    assert_eq!(line(&output, "files").0, "warning");
}

#[test]
fn a_manifest_of_another_version_or_form_fails() {
    let env = TestEnv::new();
    let prefix = env.folder().join("prefix");
    let program = install(&prefix);
    write_manifest(&prefix, "0.0.9", &[]);
    let output = check(&env, &program, "").ended_with(1).json();
    let (_, found, _) = line(&output, "files");
    assert!(found.contains("is of version 0.0.9"), "{found}");

    let manifest = prefix.join("share/callosum/manifest.json");
    for text in ["", "[]", "{\"format\": 1}", "\u{1b}[2J"] {
        fs::write(&manifest, text).unwrap();
        let output = check(&env, &program, "").ended_with(1).json();
        let (outcome, found, hint) = line(&output, "files");
        assert_eq!(outcome, "failed", "{text}");
        assert!(found.contains("is not the manifest"), "{found}");
        assert!(hint.is_some(), "{text}");
    }
}

#[test]
fn a_program_from_source_has_no_files_to_compare() {
    let env = TestEnv::new();
    let output = env.run(["self", "check", "--json"]).success().json();
    let (outcome, found, _) = line(&output, "files");
    assert_eq!(outcome, "ok");
    assert!(found.contains("not installed from a release"), "{found}");
    assert_eq!(output["manifest"], Value::Null);
    assert_eq!(line(&output, "path").0, "warning");
    assert_eq!(line(&output, "completions").0, "warning");
    assert_eq!(line(&output, "hooks").1, "none registered");
    assert_eq!(line(&output, "daemon").1, "not running");
}

#[test]
fn another_copy_on_path_is_named_with_its_version() {
    let env = TestEnv::new();
    let program = install(&env.folder().join("prefix"));
    let old = env.folder().join("old/callosum");
    write_copy(&old, "0.0.9");
    // A link to this program is no other copy.
    let links = env.folder().join("links");
    fs::create_dir(&links).unwrap();
    symlink(&program, links.join("callosum")).unwrap();
    let behind = format!("{}:{}/old:", links.display(), env.folder().display());

    let output = check(&env, &program, &behind).success().json();
    assert_eq!(line(&output, "path").0, "ok");
    let (outcome, found, hint) = line(&output, "other copy");
    assert_eq!(outcome, "warning");
    assert!(found.contains("old/callosum (version 0.0.9)"), "{found}");
    assert!(hint.unwrap().ends_with("old/callosum self check"));

    let run = env
        .program(program.clone())
        .arguments(["self", "check", "--json"]);
    let path = format!("{}/old:/usr/bin:/bin", env.folder().display());
    let output = run.env("PATH", path).run().ended_with(1).json();
    let (outcome, found, hint) = line(&output, "path");
    assert_eq!(outcome, "failed");
    assert!(
        found.contains("(version 0.0.9), not this program"),
        "{found}"
    );
    assert!(hint.unwrap().contains("prefix/bin"), "{hint:?}");
}

#[test]
fn hooks_of_another_copy_fail_until_init_runs_again() {
    let env = TestEnv::new();
    let program = install(&env.folder().join("prefix"));
    let init = |program: &Path| {
        let run = env.program(program.to_owned());
        run.arguments(["init", "--guard", "--mcp", "--client", "claude", "--yes"])
            .run()
            .success()
    };
    init(&program);
    let output = check(&env, &program, "").success().json();
    assert_eq!(line(&output, "hooks of claude").0, "ok");
    assert_eq!(line(&output, "tools of claude").0, "ok");

    let moved = env.folder().join("moved/bin/callosum");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(&program, &moved).unwrap();
    let output = check(&env, &moved, "").ended_with(1).json();
    let (outcome, found, hint) = line(&output, "hooks of claude");
    assert_eq!(outcome, "failed");
    assert!(found.contains("which does not exist"), "{found}");
    assert_eq!(hint, Some("callosum init --client claude"));

    write_copy(&program, "0.0.9");
    let output = check(&env, &moved, "").ended_with(1).json();
    let (_, found, _) = line(&output, "tools of claude");
    assert!(
        found.contains("(version 0.0.9), not this program"),
        "{found}"
    );

    init(&moved);
    let output = check(&env, &moved, "").success().json();
    assert_eq!(line(&output, "hooks of claude").0, "ok");
}

#[test]
fn a_daemon_of_another_version_fails() {
    let env = TestEnv::new();
    let program = install(&env.folder().join("prefix"));
    let folder = env.machine_home().join("mesh");
    fs::create_dir_all(&folder).unwrap();
    let listener = UnixListener::bind(folder.join("serve.sock")).unwrap();
    let daemon = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).unwrap() > 0);
        let body = json!({"serving": {
            "pid": 4711, "version": "0.0.9", "started": "2026-01-02T03:04:05Z", "socket": "serve.sock",
            "origin": "o", "events": null, "bus": null, "metrics": null, "unserved": [],
        }});
        write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}").unwrap();
    });
    let output = check(&env, &program, "").ended_with(1).json();
    daemon.join().unwrap();
    let (outcome, found, hint) = line(&output, "daemon");
    assert_eq!(outcome, "failed");
    assert!(found.contains("process 4711 has version 0.0.9"), "{found}");
    assert!(hint.unwrap().starts_with("callosum serve stop"), "{hint:?}");
}
