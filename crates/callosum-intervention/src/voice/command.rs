//! [`check_command`]: which commands a message may name.
//!
//! A message is an instruction to an agent that holds a shell, so this list is closed: a program and a form of its
//! arguments from [`FORMS`], a file of the project, or a program that the project declares. The caller's guard has the last
//! word. Nothing that deletes, publishes, sends, evaluates text or takes code from an address is in the list, even if a
//! guard allows it.

use super::{Surroundings, file::check_file};
use crate::operator::message::is_command_text;

/// Forms of commands by program, in alphabetical order. A form is words and at the end a placeholder:
/// `<n>` one or more names, `<f>` files of the project and options in any order, `<t>` one target of a build tool,
/// `<w>` names and options in any order. An empty form is the program alone.
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
            "pull <n>",
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
            "generate <w>",
            "get <n>",
            "list <w>",
            "mod download",
            "mod init <n>",
            "mod tidy",
            "mod vendor",
            "mod verify",
            "run <w>",
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

/// Options that no command of a message has: they force, skip a check, evaluate text, write elsewhere, or fetch from another
/// address.
const NEVER_OPTIONS: &[&str] = &[
    "--all",
    "--allow-dirty",
    "--allow-root",
    "--break-system-packages",
    "--config",
    "--delete",
    "--editable",
    "--eval",
    "--exec",
    "--extra-index-url",
    "--find-links",
    "--force",
    "--force-with-lease",
    "--git",
    "--global",
    "--hard",
    "--index",
    "--index-url",
    "--mirror",
    "--no-verify",
    "--out",
    "--outdir",
    "--output",
    "--out-dir",
    "--path",
    "--privileged",
    "--proxy",
    "--prune",
    "--registry",
    "--require",
    "--root",
    "--source",
    "--system",
    "--target-dir",
    "--trusted-host",
    "--unsafe-perm",
    "--user",
    "--yes",
    "--ignore-scripts=false",
    "--install-dir",
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
            let is_form = |form: &&str| fits(form, arguments, surroundings);
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
    if (surroundings.allows)(command) {
        Ok(())
    } else {
        Err("the guard does not allow the command".to_owned())
    }
}

/// Whether an argument stays in the project, takes nothing from an address, and is no forbidden option.
fn is_safe(argument: &str) -> bool {
    let option = argument.split('=').next().unwrap_or(argument);
    !argument.starts_with('/')
        && !argument.contains("=/")
        && !argument.contains("//")
        && !argument.contains("git+")
        && !argument.split(['/', '=', ':']).any(|part| part == "..")
        && !NEVER_OPTIONS.contains(&option)
        && !is_forced(argument)
}

/// Whether this is a group of short options that forces, as `-f` and `-rf`.
fn is_forced(argument: &str) -> bool {
    argument.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with('-')
            && letters.len() <= 3
            && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
            && letters.contains(['f', 'F'])
    })
}

/// Whether the arguments have the form.
fn fits(form: &str, arguments: &[&str], surroundings: &Surroundings<'_>) -> bool {
    let mut rest = arguments;
    let mut parts = form.split(' ').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        match part {
            "<n>" => return !rest.is_empty() && rest.iter().all(|argument| is_name(argument)),
            "<w>" => return rest.iter().all(|argument| is_name_or_option(argument)),
            "<t>" => return matches!(rest, [target] if is_target(target)),
            "<f>" => {
                let end = match parts.peek() {
                    Some(next) => rest.iter().position(|argument| argument == next),
                    None => Some(rest.len()),
                };
                let Some(end) = end else { return false };
                if !rest[..end]
                    .iter()
                    .all(|argument| is_plain_option(argument) || is_file(argument, surroundings))
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

/// Whether this is the name of a package, test or module, with an optional version.
fn is_name(argument: &str) -> bool {
    !argument.starts_with(['-', '.', '/', ':', '=', '+', ','])
        && argument.bytes().any(|byte| byte.is_ascii_alphanumeric())
        // A port, as `lsof -i :3000` has it.
        || argument.strip_prefix(':').is_some_and(|port| {
            !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Whether this is a pattern of Go packages, or the folder itself.
fn is_go_packages(argument: &str) -> bool {
    matches!(argument, "." | "./...")
        || argument
            .strip_prefix("./")
            .is_some_and(is_name_without_colon)
}

fn is_name_without_colon(argument: &str) -> bool {
    argument.starts_with(|first: char| first.is_ascii_alphanumeric()) && !argument.contains(':')
}

fn is_name_or_option(argument: &str) -> bool {
    is_name(argument) || is_go_packages(argument) || is_plain_option(argument) || argument == "--"
}

/// Whether this is an option: `-v`, `--lib`, `--tests=x`.
fn is_plain_option(argument: &str) -> bool {
    let name = argument.trim_start_matches('-');
    let dashes = argument.len() - name.len();
    // `-c`, `-e` and `-i` evaluate text or change where packages come from; `-o` writes.
    matches!(dashes, 1 | 2)
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && !matches!(
            argument,
            "-c" | "-e" | "-i" | "-o" | "-g" | "-r" | "-C" | "-D" | "-exec" | "-toolexec"
        )
        && !name.starts_with("toolexec")
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
        for (program, forms) in FORMS.iter().copied() {
            assert!(!NEVER.contains(&program), "{program}");
            assert!(!forms.is_empty());
        }
    }
}
