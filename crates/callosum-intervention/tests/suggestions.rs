//! Fixes that follow from an event and the files of its project.

use callosum_diagnose::{ErrorEvent, Severity, StreamSource};
use callosum_intervention::classify::{Project, suggest};

fn event(error_type: &str, message: &str) -> ErrorEvent {
    ErrorEvent {
        error_type: error_type.to_owned(),
        file_path: None,
        line_number: None,
        message: message.to_owned(),
        code: None,
        module: None,
        test: None,
        severity: Severity::High,
        stream_source: StreamSource::Merged,
        timestamp: "2026-01-02T03:04:05Z".to_owned(),
        raw_output: String::new(),
    }
}

fn project(files: &[&str]) -> Project {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Project {
        files: names(files),
        programs: names(&[
            "pip", "uv", "poetry", "npm", "npx", "pnpm", "yarn", "bun", "cargo", "go", "bundle",
            "composer", "git", "pytest", "ruff", "rubocop", "jest", "df",
        ]),
    }
}

fn command_for(event: &ErrorEvent, files: &[&str]) -> Option<String> {
    suggest(event, &project(files), &|_| true).map(|fix| fix.command)
}

/// CAKE-CLS-1: the fix follows from the message and from the files of the project.
#[test]
fn the_fix_follows_from_the_message_and_the_project() {
    for (error_type, message, files, expected) in [
        (
            "ModuleNotFoundError",
            "No module named 'requests'",
            &[][..],
            Some("pip install requests"),
        ),
        (
            "ImportError",
            "No module named 'requests'",
            &["uv.lock"],
            Some("uv add requests"),
        ),
        (
            "ModuleNotFoundError",
            "No module named 'yaml'",
            &["poetry.lock"],
            Some("poetry add PyYAML"),
        ),
        (
            "ModuleNotFoundError",
            "No module named 'google.cloud'",
            &[],
            None,
        ),
        (
            "ModuleNotFoundError",
            "No module named 'shop.cart'",
            &["shop"],
            None,
        ),
        (
            "ModuleNotFoundError",
            "No module named 'cart'",
            &["cart.py"],
            None,
        ),
        ("ImportError", "cannot import name 'x' from 'y'", &[], None),
        (
            "Error",
            "Cannot find module 'shop-pay'",
            &["package.json", "node_modules"],
            Some("npm install shop-pay"),
        ),
        (
            "Error",
            "Cannot find module 'shop-pay'",
            &["package.json"],
            Some("npm install"),
        ),
        (
            "DependencyError",
            "Could not resolve \"@a/b/c\"",
            &["package.json", "node_modules", "pnpm-lock.yaml"],
            Some("pnpm add @a/b"),
        ),
        (
            "DependencyError",
            "Can't resolve 'lodash/merge'",
            &["package.json", "node_modules", "yarn.lock"],
            Some("yarn add lodash"),
        ),
        (
            "TypeCheckError",
            "Cannot find module 'left-pad' or its types",
            &["package.json", "node_modules", "bun.lock"],
            Some("bun add left-pad"),
        ),
        (
            "Error",
            "Cannot find module './cart'",
            &["package.json", "node_modules"],
            None,
        ),
        (
            "Error",
            "Cannot find module '/srv/cart.js'",
            &["package.json", "node_modules"],
            None,
        ),
        (
            "Error",
            "Cannot find module 'fs'",
            &["package.json", "node_modules"],
            None,
        ),
        (
            "Error",
            "Cannot find module 'node:fs'",
            &["package.json", "node_modules"],
            None,
        ),
        ("Error", "Cannot find module 'shop-pay'", &[], None),
        (
            "CompileError",
            "unresolved import `serde_yaml::Value`",
            &["Cargo.toml"],
            Some("cargo add serde_yaml"),
        ),
        (
            "CompileError",
            "unresolved import `crate::cart`",
            &["Cargo.toml"],
            None,
        ),
        (
            "CompileError",
            "failed to resolve: use of unresolved module or unlinked crate `rand`",
            &["Cargo.toml"],
            Some("cargo add rand"),
        ),
        (
            "DependencyError",
            "no required module provides package github.com/acme/pay; to add it:",
            &["go.mod"],
            Some("go get github.com/acme/pay"),
        ),
        (
            "DependencyError",
            "missing go.sum entry for module",
            &["go.mod"],
            Some("go mod tidy"),
        ),
        (
            "LoadError",
            "cannot load such file -- shop_pay",
            &["Gemfile"],
            Some("bundle install"),
        ),
        ("LoadError", "cannot load such file -- shop_pay", &[], None),
        (
            "PhpFatalError",
            "Failed opening required 'vendor/autoload.php'",
            &["composer.json"],
            Some("composer install"),
        ),
        (
            "MergeConflict",
            "CONFLICT (content): Merge conflict in cart.txt",
            &[],
            Some("git status"),
        ),
        (
            "GitPushRejected",
            "! [rejected] main -> main (non-fast-forward)",
            &[],
            Some("git pull --rebase"),
        ),
        (
            "GitPushRejected",
            "! [remote rejected] main -> main (pre-receive hook declined)",
            &[],
            None,
        ),
        ("DiskFull", "No space left on device", &[], Some("df -h")),
        (
            "CommandNotFound",
            "sh: 1: tsc: not found",
            &["package.json"],
            Some("npm install"),
        ),
        (
            "CommandNotFound",
            "shopctl: command not found",
            &["package.json"],
            None,
        ),
        ("KeyError", "'x'", &[], None),
    ] {
        let found = command_for(&event(error_type, message), files);
        assert_eq!(found.as_deref(), expected, "{error_type}: {message}");
    }
}

/// CAKE-CLS-1: a failed test is run alone, and a lint error is fixed in its file.
#[test]
fn a_test_is_run_alone_and_a_file_is_fixed_alone() {
    for (error_type, file, test, code, files, expected) in [
        (
            "TestFailure",
            Some("tests/test_a.py"),
            Some("test_total"),
            None,
            &[][..],
            Some("pytest tests/test_a.py -k test_total"),
        ),
        (
            "TestFailure",
            Some("tests/test_a.py"),
            Some("tests/test_a.py::TestCart::test_total"),
            None,
            &[],
            Some("pytest tests/test_a.py::TestCart::test_total"),
        ),
        (
            "TestFailure",
            Some("tests/test_a.py"),
            None,
            None,
            &[],
            Some("pytest tests/test_a.py"),
        ),
        (
            "TestFailure",
            Some("cart.test.js"),
            Some("adds up"),
            None,
            &[],
            Some("npx jest cart.test.js"),
        ),
        (
            "TestFailure",
            Some("spec/cart_spec.rb"),
            None,
            None,
            &[],
            Some("bundle exec rspec spec/cart_spec.rb"),
        ),
        (
            "TestFailure",
            Some("src/cart.rs"),
            Some("tests::adds"),
            None,
            &["Cargo.toml"],
            Some("cargo test tests::adds"),
        ),
        (
            "TestFailure",
            Some("cart_test.go"),
            Some("TestAdds"),
            None,
            &["go.mod"],
            Some("go test ./... -run TestAdds"),
        ),
        (
            "TestFailure",
            None,
            Some("x; rm -rf /"),
            None,
            &["Cargo.toml"],
            None,
        ),
        ("TestFailure", Some("/etc/x.py"), None, None, &[], None),
        ("TestFailure", Some("a b.py"), None, None, &[], None),
        (
            "LintError",
            Some("shop.py"),
            None,
            Some("F401"),
            &[],
            Some("ruff check --fix shop.py"),
        ),
        (
            "LintError",
            Some("shop.js"),
            None,
            Some("no-unused-vars"),
            &[],
            Some("npx eslint --fix shop.js"),
        ),
        (
            "LintError",
            Some("shop.rb"),
            None,
            Some("Style/StringLiterals"),
            &[],
            Some("rubocop -a shop.rb"),
        ),
        (
            "LintError",
            Some("../shop.py"),
            None,
            Some("F401"),
            &[],
            None,
        ),
        ("LintError", Some("shop.py"), None, None, &[], None),
    ] {
        let mut event = event(error_type, "failed");
        event.file_path = file.map(str::to_owned);
        event.test = test.map(str::to_owned);
        event.code = code.map(str::to_owned);
        let found = command_for(&event, files);
        assert_eq!(found.as_deref(), expected, "{file:?} {test:?}");
    }
}

/// CAKE-CLS-1: hostile names and likely typos give no fix.
#[test]
fn hostile_names_give_no_fix() {
    for name in [
        "x; rm -rf /",
        "$(id)",
        "`id`",
        "-r http://evil.example",
        "--index-url=x",
        "../x",
        "/etc/x",
        "re quests",
        "x\ny",
        "",
        "reqeusts",
        "requsts",
        "git+https://evil.example/x",
        "x@http://evil.example",
        "\u{1b}[31mx",
    ] {
        let all = ["package.json", "node_modules", "Cargo.toml", "go.mod"];
        for (error_type, message) in [
            ("ModuleNotFoundError", format!("No module named '{name}'")),
            ("Error", format!("Cannot find module '{name}'")),
            ("CompileError", format!("unresolved import \"{name}\"")),
            (
                "DependencyError",
                format!("no required module provides package {name}; to add it:"),
            ),
        ] {
            assert_eq!(
                command_for(&event(error_type, &message), &all),
                None,
                "{message}"
            );
        }
    }
}

/// CAKE-CLS-1: a fix needs a program that exists and the guard's permission.
#[test]
fn a_fix_needs_its_program_and_the_guard() {
    let event = event("ModuleNotFoundError", "No module named 'requests'");
    assert_eq!(suggest(&event, &Project::default(), &|_| true), None);
    assert_eq!(
        suggest(&event, &project(&[]), &|command| command
            != "pip install requests"),
        None
    );
    assert!(suggest(&event, &project(&[]), &|_| true).is_some());
}
