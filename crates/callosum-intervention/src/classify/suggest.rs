//! [`suggest`]: a fix derived from the event alone. Names from the output are validated before they enter a command.

use std::collections::BTreeSet;

use callosum_diagnose::ErrorEvent;
use serde::{Deserialize, Serialize};

use super::package_name::{Ecosystem, is_package_name, resembles_popular};

/// A command that may fix an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SuggestedFix {
    /// The command line.
    pub command: String,
}

/// Facts about a project that decide which command fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// Names of the files and folders at the root, as in `uv.lock` or `node_modules`.
    pub files: BTreeSet<String>,
    /// Programs that exist on the machine or that the project declares.
    pub programs: BTreeSet<String>,
}

impl Project {
    fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }
}

/// Import names whose package has another name.
const RENAMED: [(&str, &str); 17] = [
    ("Crypto", "pycryptodome"),
    ("MySQLdb", "mysqlclient"),
    ("PIL", "Pillow"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("fitz", "PyMuPDF"),
    ("git", "GitPython"),
    ("jwt", "PyJWT"),
    ("psycopg2", "psycopg2-binary"),
    ("serial", "pyserial"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("yaml", "PyYAML"),
];

/// Top modules that many packages share; the name says nothing about the package.
const NAMESPACES: [&str; 6] = [
    "azure",
    "backports",
    "google",
    "ruamel",
    "sphinxcontrib",
    "zope",
];

/// Modules of Node itself; a missing one is not installed from a registry.
const NODE_MODULES: [&str; 10] = [
    "assert", "crypto", "fs", "http", "https", "os", "path", "process", "url", "util",
];

/// Returns a command that may fix the error, or `None`.
///
/// `allows` is the caller's guard. The program must be one of the project's. A name that could be an option, a path, a
/// second command, or a typo of a popular package gives no command.
pub fn suggest(
    event: &ErrorEvent,
    project: &Project,
    allows: &dyn Fn(&str) -> bool,
) -> Option<SuggestedFix> {
    let command = command(event, project)?;
    let program = command.split(' ').next()?;
    (project.programs.contains(program) && allows(&command)).then_some(SuggestedFix { command })
}

/// Returns the command for the type of the error, before the guard.
fn command(event: &ErrorEvent, project: &Project) -> Option<String> {
    match event.error_type.as_str() {
        "ModuleNotFoundError" | "ImportError" => python_install(event, project),
        "MergeConflict" => Some("git status".to_owned()),
        "GitPushRejected" => {
            // A hook that declines the push declines it after a pull as well.
            let is_behind = ["non-fast-forward", "fetch first", "behind"]
                .iter()
                .any(|sign| event.message.contains(sign) || event.raw_output.contains(sign));
            is_behind.then(|| "git pull --rebase".to_owned())
        }
        "LintError" => lint_fix(event),
        "TestFailure" | "TestTimeout" | "TestError" | "AssertionError" => {
            single_test(event, project)
        }
        "DiskFull" => Some("df -h".to_owned()),
        "LoadError" | "GemNotFound" => project.has("Gemfile").then(|| "bundle install".to_owned()),
        "CommandNotFound" => missing_program(event, project),
        "DependencyError" | "Error" | "CompileError" | "TypeCheckError" | "BuildError"
        | "PhpFatalError" => dependency(event, project),
        _ => None,
    }
}

/// Returns the text between the first pair of quotes after the marker.
fn quoted_after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    let rest = &text[text.find(marker)? + marker.len()..];
    let open = rest.find(['\'', '"', '`'])?;
    let quote = rest[open..].chars().next()?;
    let name = &rest[open + 1..];
    Some(&name[..name.find(quote)?])
}

/// Returns whether the name may be installed: a package name of the registry, and no likely typo.
fn is_installable(name: &str, ecosystem: Ecosystem) -> bool {
    is_package_name(name, ecosystem) && !resembles_popular(name)
}

/// Returns the command that adds a missing Python package.
fn python_install(event: &ErrorEvent, project: &Project) -> Option<String> {
    let named = quoted_after(&event.message, "No module named ")?;
    let module = named.split('.').next()?;
    let is_local = project.has(module)
        || project.has(&format!("{module}.py"))
        || event
            .file_path
            .as_deref()
            .is_some_and(|file| file.starts_with(&format!("{module}/")));
    if is_local || NAMESPACES.contains(&module) || !is_package_name(named, Ecosystem::Python) {
        return None;
    }
    let name = RENAMED
        .iter()
        .find(|(import, _)| *import == module)
        .map_or(module, |(_, package)| *package);
    if !is_installable(name, Ecosystem::Python) {
        return None;
    }
    let adds = if project.has("uv.lock") {
        "uv add"
    } else if project.has("poetry.lock") {
        "poetry add"
    } else if project.has("pdm.lock") {
        "pdm add"
    } else if project.has("Pipfile") {
        "pipenv install"
    } else if project.programs.contains("pip") || !project.programs.contains("pip3") {
        "pip install"
    } else {
        "pip3 install"
    };
    Some(format!("{adds} {name}"))
}

/// Returns the command that adds a missing package of another language, or installs what the project declares.
fn dependency(event: &ErrorEvent, project: &Project) -> Option<String> {
    let message = event.message.as_str();
    for marker in [
        "Cannot find module ",
        "Cannot find package ",
        "Could not resolve ",
        "Can't resolve ",
        "Cannot resolve ",
    ] {
        if let Some(name) = quoted_after(message, marker) {
            return node_install(name, project);
        }
    }
    if let Some(rest) = message.split("no required module provides package ").nth(1) {
        let name = rest.split([';', ' ', ':']).next()?;
        return (project.has("go.mod") && is_installable(name, Ecosystem::Go))
            .then(|| format!("go get {name}"));
    }
    if message.contains("missing go.sum entry") || message.contains("updates to go.mod needed") {
        return project.has("go.mod").then(|| "go mod tidy".to_owned());
    }
    if let Some(name) = unresolved_crate(message) {
        return (project.has("Cargo.toml")
            && !matches!(name, "crate" | "self" | "super" | "std" | "core" | "alloc")
            && is_installable(name, Ecosystem::Rust))
        .then(|| format!("cargo add {name}"));
    }
    if project.has("Gemfile")
        && (message.contains("Could not find gem") || message.contains("bundle install"))
    {
        return Some("bundle install".to_owned());
    }
    if project.has("composer.json")
        && (message.contains("vendor/autoload.php") || message.contains("composer install"))
    {
        return Some("composer install".to_owned());
    }
    None
}

/// Returns the crate that rustc names in an unresolved import.
fn unresolved_crate(message: &str) -> Option<&str> {
    for marker in [
        "unresolved import ",
        "unresolved module or unlinked crate ",
        "use of undeclared crate or module ",
        "can't find crate for ",
    ] {
        if let Some(path) = quoted_after(message, marker) {
            return path.split("::").next();
        }
    }
    None
}

/// Returns the install command of the package manager whose lock file exists.
fn node_install(name: &str, project: &Project) -> Option<String> {
    if !project.has("package.json") || NODE_MODULES.contains(&name) || name.starts_with("node:") {
        return None;
    }
    let (manager, adds) = if project.has("pnpm-lock.yaml") {
        ("pnpm", "add")
    } else if project.has("yarn.lock") {
        ("yarn", "add")
    } else if project.has("bun.lock") || project.has("bun.lockb") {
        ("bun", "add")
    } else {
        ("npm", "install")
    };
    // A path within a package, as in `lodash/merge`, is installed with the package.
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package = name
        .splitn(parts + 1, '/')
        .take(parts)
        .collect::<Vec<_>>()
        .join("/");
    if !is_installable(&package, Ecosystem::Node) {
        return None;
    }
    if !project.has("node_modules") {
        return Some(format!("{manager} install"));
    }
    Some(format!("{manager} {adds} {package}"))
}

/// Returns the install command if the missing program is one of the project's own tools.
fn missing_program(event: &ErrorEvent, project: &Project) -> Option<String> {
    let is_node_tool = [
        "tsc", "jest", "vitest", "eslint", "prettier", "mocha", "webpack", "vite",
    ]
    .iter()
    .any(|tool| {
        event.module.as_deref() == Some(tool) || event.message.contains(&format!("{tool}: "))
    });
    (is_node_tool && project.has("package.json") && !project.has("node_modules"))
        .then(|| "npm install".to_owned())
}

/// Returns the linter's own fix of the file, if the code is one of a linter that has one.
fn lint_fix(event: &ErrorEvent) -> Option<String> {
    let file = event
        .file_path
        .as_deref()
        .filter(|file| is_plain_path(file))?;
    let code = event.code.as_deref()?;
    let is_python = has_extension(file, &["py", "pyi"]);
    let is_script = has_extension(file, &["js", "jsx", "ts", "tsx", "mjs", "cjs"]);
    if is_python && is_ruff_code(code) {
        Some(format!("ruff check --fix {file}"))
    } else if is_script && is_plain_rule(code) {
        Some(format!("npx eslint --fix {file}"))
    } else if has_extension(file, &["rb"]) && code.contains('/') {
        Some(format!("rubocop -a {file}"))
    } else {
        None
    }
}

/// Returns whether this is a code like `F401`, which ruff and flake8 print.
fn is_ruff_code(code: &str) -> bool {
    let digits = code.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    digits.len() < code.len()
        && digits.len() >= 3
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether this is a rule of ESLint, as `no-unused-vars`.
fn is_plain_rule(code: &str) -> bool {
    code.bytes()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'/' | b'@'))
}

/// Returns the command that runs the failed test alone.
fn single_test(event: &ErrorEvent, project: &Project) -> Option<String> {
    let test = event.test.as_deref().filter(|test| is_plain_test(test));
    let file = event
        .file_path
        .as_deref()
        .filter(|file| is_plain_path(file));
    if let Some(file) = file.filter(|file| has_extension(file, &["py"])) {
        let name = test.map(|test| test.rsplit("::").next().unwrap_or(test));
        return Some(match name.filter(|name| name.starts_with("test")) {
            Some(name) if !name.contains('.') && !test?.contains("::") => {
                format!("pytest {file} -k {name}")
            }
            Some(_) if test?.starts_with(file) => format!("pytest {}", test?),
            _ => format!("pytest {file}"),
        });
    }
    if let Some(file) = file.filter(|file| has_extension(file, &["js", "ts", "jsx", "tsx"])) {
        let runner = ["vitest", "jest", "mocha"]
            .into_iter()
            .find(|runner| project.programs.contains(*runner))?;
        return Some(match runner {
            "vitest" => format!("npx vitest run {file}"),
            other => format!("npx {other} {file}"),
        });
    }
    if let Some(file) = file.filter(|file| file.ends_with("_spec.rb")) {
        return Some(format!("bundle exec rspec {file}"));
    }
    let test = test?;
    if file.is_none_or(|file| has_extension(file, &["rs"])) && project.has("Cargo.toml") {
        return Some(format!("cargo test {test}"));
    }
    if file.is_none_or(|file| file.ends_with("_test.go")) && project.has("go.mod") {
        let is_test = test.starts_with("Test") && !test.contains(':');
        return is_test.then(|| format!("go test ./... -run {test}"));
    }
    None
}

/// Returns whether the path is relative, inside the project, and safe to write unquoted.
fn is_plain_path(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 200
        && !path.starts_with(['/', '-'])
        && !path.split('/').any(|part| part == "..")
        && path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-'))
}

/// Returns whether the name of a test is safe to write unquoted.
fn is_plain_test(test: &str) -> bool {
    !test.is_empty()
        && test.len() <= 120
        && !test.starts_with(['-', '/', ':'])
        && !test.contains("..")
        && test.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'/' | b'-')
        })
}

/// Returns whether the file has one of the extensions.
fn has_extension(file: &str, extensions: &[&str]) -> bool {
    file.rsplit_once('.')
        .is_some_and(|(_, extension)| extensions.contains(&extension))
}
