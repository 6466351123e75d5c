//! [`check_command`]: which commands a message may name.
//!
//! A message is an instruction to an agent that holds a shell, so this list is closed: a program and a form of its
//! arguments from [`FORMS`], a file of the project, or a program that the project declares. The caller's guard has the last
//! word. Nothing that deletes, publishes, sends, evaluates text or takes code from an address is in the list, even if a
//! guard allows it.

use super::{Surroundings, file::check_file};
use crate::{
    classify::{Ecosystem, is_package_name, resembles_popular},
    operator::message::is_command_text,
};

/// Forms of commands by program, in alphabetical order. A form is words and at the end a placeholder:
/// `<n>` one or more names, `<f>` files of the project and options in any order, `<t>` one target of a build tool,
/// `<w>` words and options in any order. An empty form is the program alone.
const FORMS: &[(&str, &[&str])] = &[
    ("actionlint", &["<f>"]),
    ("alembic", &["current", "heads", "upgrade head"]),
    ("biome", &["check <f>", "lint <f>"]),
    ("black", &["<f>"]),
    ("bun", &["add <n>", "install", "run <t>", "test <f>"]),
    (
        "bundle",
        &[
            "check",
            "exec rake <t>",
            "exec rspec <f>",
            "exec rubocop <f>",
            "install",
        ],
    ),
    (
        "callosum",
        &["doctor", "recall list", "snapshot list", "status"],
    ),
    (
        "cargo",
        &[
            "add --dev <n>",
            "add <n>",
            "bench <w>",
            "build <w>",
            "check <w>",
            "clean",
            "clean -p <n>",
            "clippy <w>",
            "doc <w>",
            "fetch",
            "fmt <w>",
            "generate-lockfile",
            "metadata <w>",
            "nextest run <w>",
            "run <w>",
            "test <w>",
            "tree <w>",
            "update",
            "update -p <n>",
        ],
    ),
    ("clang-tidy", &["<f>"]),
    (
        "cmake",
        &["--build build", "--version", "-B build", "-S . -B build"],
    ),
    (
        "composer",
        &[
            "diagnose",
            "dump-autoload",
            "install",
            "require <n>",
            "validate",
        ],
    ),
    ("conda", &["install <n>", "list"]),
    ("coverage", &["report", "run -m pytest"]),
    ("ctest", &["<w>"]),
    ("deno", &["check <f>", "lint <f>", "test <f>"]),
    ("df", &["", "-h", "-i"]),
    (
        "docker",
        &[
            "build .",
            "compose config",
            "compose logs <n>",
            "compose ps",
            "compose up -d",
            "images",
            "info",
            "logs <n>",
            "ps",
            "ps -a",
            "system df",
            "version",
        ],
    ),
    ("dotnet", &["build", "restore", "test"]),
    ("du", &["-sh <f>"]),
    ("eslint", &["--fix <f>", "<f>"]),
    ("flake8", &["<f>"]),
    ("flutter", &["analyze", "pub get", "test <f>"]),
    ("gem", &["install <n>", "list"]),
    (
        "git",
        &[
            "add <f>",
            "blame <f>",
            "branch",
            "cherry-pick --continue",
            "diff",
            "diff --cached",
            "diff --staged",
            "diff --stat",
            "diff <f>",
            "fetch",
            "fetch origin",
            "lfs pull",
            "log",
            "log --oneline",
            "ls-files",
            "merge --continue",
            "pull",
            "pull --ff-only",
            "pull --rebase",
            "rebase --continue",
            "remote -v",
            "show",
            "stash",
            "stash apply",
            "stash list",
            "stash pop",
            "stash show",
            "status",
            "status --short",
            "submodule update --init",
            "worktree list",
        ],
    ),
    (
        "go",
        &[
            "build <w>",
            "env",
            "fmt <w>",
            "generate ./...",
            "get <n>",
            "list <w>",
            "mod download",
            "mod init <n>",
            "mod tidy",
            "mod vendor",
            "mod verify",
            "run <f>",
            "test <w>",
            "version",
            "vet <w>",
            "work sync",
        ],
    ),
    ("gofmt", &["-d <f>", "-l <f>"]),
    ("golangci-lint", &["run <w>"]),
    (
        "gradle",
        &[
            "build",
            "check",
            "compileJava",
            "dependencies",
            "test",
            "test --tests <n>",
        ],
    ),
    ("hadolint", &["<f>"]),
    ("isort", &["<f>"]),
    ("java", &["--version", "-version"]),
    ("javac", &["<f>"]),
    ("jest", &["<f>"]),
    ("just", &["<t>"]),
    (
        "kubectl",
        &[
            "config current-context",
            "get deployments",
            "get nodes",
            "get pods",
            "version",
        ],
    ),
    ("ls", &["", "-l", "-la", "<f>"]),
    ("lsof", &["-i <n>"]),
    ("make", &["", "<t>"]),
    ("mix", &["compile", "deps.get", "test <f>"]),
    ("mocha", &["<f>"]),
    (
        "mvn",
        &[
            "-q test",
            "compile",
            "dependency:tree",
            "package",
            "test",
            "verify",
        ],
    ),
    ("mypy", &["<f>"]),
    ("ninja", &["", "<t>"]),
    ("node", &["--check <f>", "--test <f>", "--version", "<f>"]),
    ("nox", &[""]),
    (
        "npm",
        &[
            "ci",
            "install",
            "install --save-dev <n>",
            "install -D <n>",
            "install <n>",
            "ls",
            "outdated",
            "run <t>",
            "test",
        ],
    ),
    (
        "npx",
        &[
            "eslint --fix <f>",
            "eslint <f>",
            "jest <f>",
            "mocha <f>",
            "playwright install",
            "prettier --check <f>",
            "prettier --write <f>",
            "tsc --noEmit",
            "vitest run <f>",
        ],
    ),
    ("pdm", &["add <n>", "install", "lock"]),
    ("perl", &["-c <f>"]),
    ("php", &["-l <f>", "<f>"]),
    ("phpunit", &["<f>"]),
    (
        "pip",
        &[
            "check",
            "freeze",
            "install -e .",
            "install -r <f>",
            "install <n>",
            "list",
            "show <n>",
        ],
    ),
    (
        "pip3",
        &[
            "check",
            "freeze",
            "install -e .",
            "install -r <f>",
            "install <n>",
            "list",
            "show <n>",
        ],
    ),
    ("pipenv", &["install", "install <n>", "lock"]),
    (
        "pnpm",
        &["add -D <n>", "add <n>", "install", "run <t>", "test"],
    ),
    ("poetry", &["add <n>", "install", "lock", "run pytest <f>"]),
    ("pre-commit", &["run", "run --all-files"]),
    ("prettier", &["--check <f>", "--write <f>"]),
    ("prove", &["<f>"]),
    ("pylint", &["<f>"]),
    ("pyright", &["<f>"]),
    ("pytest", &["<f>", "<f> -k <n>"]),
    (
        "python",
        &[
            "--version",
            "-m compileall <f>",
            "-m mypy <f>",
            "-m pip check",
            "-m pip install -e .",
            "-m pip install -r <f>",
            "-m pip install <n>",
            "-m pip list",
            "-m py_compile <f>",
            "-m pytest <f>",
            "-m pytest <f> -k <n>",
            "-m unittest <n>",
            "-m venv .venv",
            "<f>",
            "manage.py check",
            "manage.py makemigrations",
            "manage.py migrate",
            "manage.py test",
        ],
    ),
    (
        "python3",
        &[
            "--version",
            "-m compileall <f>",
            "-m mypy <f>",
            "-m pip check",
            "-m pip install -e .",
            "-m pip install -r <f>",
            "-m pip install <n>",
            "-m pip list",
            "-m py_compile <f>",
            "-m pytest <f>",
            "-m pytest <f> -k <n>",
            "-m unittest <n>",
            "-m venv .venv",
            "<f>",
            "manage.py check",
            "manage.py makemigrations",
            "manage.py migrate",
            "manage.py test",
        ],
    ),
    ("rake", &["", "<t>"]),
    ("rspec", &["<f>"]),
    ("rubocop", &["-a <f>", "<f>"]),
    ("ruby", &["-Itest <f>", "-c <f>", "<f>"]),
    ("ruff", &["check --fix <f>", "check <f>", "format <f>"]),
    ("rustc", &["--explain <n>", "--version"]),
    (
        "rustup",
        &["component add <n>", "show", "target add <n>", "update"],
    ),
    ("shellcheck", &["<f>"]),
    ("swift", &["build", "package resolve", "test"]),
    ("task", &["<t>"]),
    (
        "terraform",
        &["fmt", "init", "plan", "providers", "validate"],
    ),
    ("tofu", &["fmt", "init", "plan", "providers", "validate"]),
    ("tox", &[""]),
    ("tsc", &["--noEmit"]),
    (
        "uv",
        &[
            "add --dev <n>",
            "add <n>",
            "lock",
            "pip install -e .",
            "pip install -r <f>",
            "pip install <n>",
            "pip list",
            "run mypy <f>",
            "run pytest <f>",
            "run pytest <f> -k <n>",
            "run python <f>",
            "run ruff check <f>",
            "sync",
        ],
    ),
    ("vitest", &["run <f>"]),
    ("which", &["<n>"]),
    ("yamllint", &["<f>"]),
    ("yarn", &["", "add <n>", "install", "run <t>", "test"]),
];

/// Programs that no message names, even if the project declares them: they delete, send, evaluate, or act as someone else.
const NEVER: &[&str] = &[
    "apt",
    "apt-get",
    "ash",
    "at",
    "awk",
    "aws",
    "az",
    "base64",
    "bash",
    "brew",
    "busybox",
    "cat",
    "chmod",
    "chown",
    "command",
    "cp",
    "crontab",
    "curl",
    "dash",
    "dd",
    "dnf",
    "doas",
    "echo",
    "env",
    "eval",
    "exec",
    "export",
    "fdisk",
    "find",
    "fish",
    "gcloud",
    "gh",
    "halt",
    "helm",
    "history",
    "init",
    "kill",
    "killall",
    "ksh",
    "ln",
    "mkfs",
    "mount",
    "mv",
    "nc",
    "ncat",
    "nohup",
    "nothing",
    "passwd",
    "pkill",
    "poweroff",
    "printenv",
    "pwsh",
    "reboot",
    "rm",
    "rmdir",
    "rsync",
    "scp",
    "sed",
    "sftp",
    "sh",
    "shred",
    "shutdown",
    "source",
    "ssh",
    "su",
    "sudo",
    "systemctl",
    "tee",
    "telnet",
    "truncate",
    "umount",
    "unlink",
    "wget",
    "xargs",
    "yes",
    "yum",
    "zsh",
];

/// Options that a command may have where its form has `<f>` or `<w>`, in alphabetical order. The list is closed, because tools
/// have options that run, write or fetch something: `-exec`, `--output`, `-p PLUGIN`.
const OPTIONS: &[&str] = &[
    "--",
    "--all-features",
    "--all-targets",
    "--bail",
    "--bin",
    "--bins",
    "--check",
    "--cov",
    "--coverage",
    "--diff",
    "--doc",
    "--exact",
    "--example",
    "--examples",
    "--features",
    "--ff",
    "--lf",
    "--lib",
    "--locked",
    "--maxfail=1",
    "--no-default-features",
    "--no-fail-fast",
    "--nocapture",
    "--offline",
    "--output-on-failure",
    "--package",
    "--quiet",
    "--release",
    "--runInBand",
    "--show-output",
    "--tb=long",
    "--tb=short",
    "--test",
    "--test-threads=1",
    "--tests",
    "--verbose",
    "--workspace",
    "-count=1",
    "-p",
    "-q",
    "-race",
    "-run",
    "-s",
    "-short",
    "-v",
    "-vv",
    "-x",
];

/// Targets of build tools that a message may name though the project was not asked whether it has them.
const USUAL_TARGETS: &[&str] = &[
    "all",
    "build",
    "check",
    "ci",
    "clean",
    "compile",
    "coverage",
    "docs",
    "fmt",
    "format",
    "generate",
    "install",
    "lint",
    "spec",
    "test",
    "tests",
    "typecheck",
    "unit",
    "verify",
];

/// Parts of a target's name that say that it changes more than the working copy.
const NEVER_TARGETS: &[&str] = &[
    "clobber",
    "delete",
    "deploy",
    "destroy",
    "distclean",
    "drop",
    "eject",
    "flush",
    "nuke",
    "prod",
    "production",
    "prune",
    "publish",
    "purge",
    "push",
    "release",
    "reset",
    "wipe",
];

/// Whether a message may name the command.
///
/// # Errors
/// The reason, for the verdict.
pub(super) fn check_command(command: &str, surroundings: &Surroundings<'_>) -> Result<(), String> {
    if !is_command_text(command) {
        return Err("command has more than plain words".to_owned());
    }
    let words: Vec<&str> = command.split(' ').collect();
    let (program, arguments) = (words[0], &words[1..]);
    if words.len() > 12 {
        return Err("command has more than 12 words".to_owned());
    }
    if program.starts_with(['-', '.', '/', '@', ':', '+', ',', '=']) && !program.starts_with("./")
        || program.contains('=')
    {
        return Err(format!("{program} is no program"));
    }
    if let Some(argument) = arguments.iter().find(|argument| !is_safe(argument)) {
        return Err(format!("argument {argument} is not allowed in a message"));
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if NEVER.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!("{name} is never in a message"));
    }
    let is_wrapper = matches!(program, "./gradlew" | "./mvnw");
    if program.contains('/') {
        check_file(program.trim_start_matches("./"), surroundings)
            .map_err(|_| format!("{program} is no file of the project"))?;
    }
    let known = match program {
        "./gradlew" => "gradle",
        "./mvnw" => "mvn",
        "vendor/bin/phpunit" => "phpunit",
        other => other,
    };
    match FORMS.binary_search_by_key(&known, |(program, _)| *program) {
        Ok(found) => {
            let is_form = |form: &&str| fits(form, known, command, arguments, surroundings);
            if !FORMS[found].1.iter().any(|form| is_form(form)) {
                return Err(format!("{command} is no known form of {known}"));
            }
        }
        Err(_) if is_wrapper => return Err(format!("{program} is no known program")),
        Err(_) if program.contains('/') || (surroundings.declares)(program) => {
            if !arguments.iter().all(|argument| is_target(argument)) {
                return Err(format!("{command} is no plain call of {program}"));
            }
        }
        Err(_) => return Err(format!("{program} is no known program")),
    }
    if !is_asked_for(program, arguments, command, surroundings) {
        return Err(format!("{command} adds what the error does not name"));
    }
    if (surroundings.allows)(command) {
        Ok(())
    } else {
        Err("the guard does not allow the command".to_owned())
    }
}

/// Whether a command that adds a package is a fix of the event, or adds only names that the error's message has. Without
/// an event, and for an event without a message and a fix, there is nothing to compare with.
fn is_asked_for(
    program: &str,
    arguments: &[&str],
    command: &str,
    surroundings: &Surroundings<'_>,
) -> bool {
    const ADDERS: [&str; 14] = [
        "bun", "cargo", "composer", "conda", "gem", "go", "npm", "pdm", "pip", "pip3", "pipenv",
        "pnpm", "poetry", "uv",
    ];
    let Some(event) = surroundings.event else {
        return true;
    };
    if event.fixes.contains(&Some(command)) || event.message.is_none() && event.fixes == [None; 2] {
        return true;
    }
    let is_adder = ADDERS.contains(&program) || matches!(program, "yarn" | "python" | "python3");
    let mut added = arguments
        .iter()
        .skip_while(|word| !matches!(**word, "add" | "get" | "install" | "require"))
        .skip(1)
        .filter(|word| !word.starts_with('-') && **word != ".")
        .peekable();
    if !is_adder || added.peek().is_none() || arguments.contains(&"-r") {
        return true;
    }
    let message = event.message.unwrap_or_default().to_lowercase();
    let mut added = added.map(|word| {
        let end = word.get(1..).and_then(|rest| rest.find(['@', '=']));
        end.map_or(*word, |end| &word[..=end]).to_lowercase()
    });
    added.all(|name| message.contains(&name))
}

/// Whether an argument stays in the project and takes nothing from an address.
fn is_safe(argument: &str) -> bool {
    !argument.starts_with('/')
        && !argument.contains("=/")
        && !argument.contains("//")
        && !argument.contains("git+")
        && !argument.split(['/', '=', ':']).any(|part| part == "..")
}

/// Whether the arguments have the form.
fn fits(
    form: &str,
    program: &str,
    command: &str,
    arguments: &[&str],
    surroundings: &Surroundings<'_>,
) -> bool {
    let mut rest = arguments;
    let mut parts = form.split(' ').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        match part {
            "<n>" => {
                return !rest.is_empty() && rest.iter().all(|argument| is_name(argument, program));
            }
            "<w>" => {
                return rest
                    .iter()
                    .all(|argument| OPTIONS.contains(argument) || is_word(argument));
            }
            "<t>" => {
                return matches!(rest, [target] if is_target(target)
                    && (USUAL_TARGETS.contains(target) || (surroundings.declares)(command)));
            }
            "<f>" => {
                let end = match parts.peek() {
                    Some(next) => rest.iter().position(|argument| argument == next),
                    None => Some(rest.len()),
                };
                let Some(end) = end else { return false };
                if !rest[..end]
                    .iter()
                    .all(|argument| OPTIONS.contains(argument) || is_file(argument, surroundings))
                {
                    return false;
                }
                rest = &rest[end..];
            }
            literal => {
                let Some((first, others)) = rest.split_first() else {
                    return false;
                };
                if *first != literal {
                    return false;
                }
                rest = others;
            }
        }
    }
    rest.is_empty()
}

/// Whether this is the name of a package, module or class, with an optional version, and no typo of a popular one. A name
/// with a slash is one of npm's scopes, or for `go` one of its hosts, not a repository or a folder.
fn is_name(argument: &str, program: &str) -> bool {
    let (name, version) = match argument.get(1..).and_then(|rest| rest.find(['@', '='])) {
        Some(end) => argument.split_at(end + 1),
        None => (argument, ""),
    };
    let version = version.trim_start_matches(['@', '=']);
    let is_version = version
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte));
    let ecosystems: &[Ecosystem] = match program {
        "go" => &[Ecosystem::Go],
        _ => &[Ecosystem::Python, Ecosystem::Node],
    };
    let is_port = name
        .strip_prefix(':')
        .is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    is_version
        && !resembles_popular(name)
        && (is_port
            || ecosystems
                .iter()
                .any(|ecosystem| is_package_name(name, *ecosystem)))
}

/// Whether this is a word that a test runner or compiler takes: a name, a test, a pattern of Go packages.
fn is_word(argument: &str) -> bool {
    let inner = argument.strip_prefix("./").unwrap_or(argument);
    matches!(argument, "." | "./...")
        || inner.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && !inner.contains(['=', '@', '+'])
}

/// Whether this is a file of the project, with an optional test after `::`, or the folder itself.
fn is_file(argument: &str, surroundings: &Surroundings<'_>) -> bool {
    if argument == "." {
        return true;
    }
    let file = argument.split("::").next().unwrap_or(argument);
    check_file(file.strip_prefix("./").unwrap_or(file), surroundings).is_ok()
}

/// Whether this is the target of a build tool whose name says nothing of a deployment.
fn is_target(argument: &str) -> bool {
    argument.starts_with(|first: char| first.is_ascii_alphanumeric())
        && argument
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_:.-/".contains(&byte))
        && !argument
            .to_ascii_lowercase()
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|part| NEVER_TARGETS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-VOICE-1: the lists are searched by halves.
    #[test]
    fn the_forms_are_sorted() {
        assert!(FORMS.is_sorted_by(|one, other| one.0 < other.0));
        assert!(OPTIONS.is_sorted() && USUAL_TARGETS.is_sorted());
        for (program, forms) in FORMS.iter().copied() {
            assert!(!NEVER.contains(&program), "{program}");
            assert!(!forms.is_empty());
        }
    }
}
