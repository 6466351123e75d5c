//! Whether two command lines are the same command, and whether a command can change anything.

/// Options that change what a command prints and not what it does.
const PRINTING: [&str; 12] = [
    "-v",
    "-vv",
    "-vvv",
    "-q",
    "-x",
    "--verbose",
    "--quiet",
    "--silent",
    "--color=always",
    "--color=never",
    "--no-color",
    "--tb=short",
];

/// Programs that only read and print.
const READERS: [&str; 44] = [
    "awk", "basename", "bat", "cat", "cd", "column", "cut", "date", "df", "diff", "dirname", "du",
    "echo", "env", "export", "fd", "file", "find", "grep", "head", "history", "id", "jq", "less",
    "ls", "man", "more", "nl", "printf", "ps", "pwd", "realpath", "rg", "sleep", "sort", "stat",
    "tail", "test", "tree", "true", "type", "uname", "wc", "which",
];

/// Subcommands that only read, by program.
const READING: [(&str, &[&str]); 6] = [
    (
        "git",
        &[
            "blame",
            "branch",
            "diff",
            "grep",
            "log",
            "ls-files",
            "remote",
            "rev-parse",
            "show",
            "status",
        ],
    ),
    ("npm", &["list", "ls", "outdated", "view", "why"]),
    ("pip", &["freeze", "list", "show"]),
    ("pip3", &["freeze", "list", "show"]),
    ("cargo", &["metadata", "tree", "search"]),
    ("docker", &["images", "inspect", "logs", "ps"]),
];

/// Returns a command line as it is compared: without variables before it, `cd DIR &&`, redirections of standard error,
/// pipes into readers, and options that only change what is printed.
fn normal_form(command: &str) -> String {
    let mut rest = command.trim();
    while let Some((first, after)) = rest.split_once("&&") {
        let is_prelude = first.trim().split(' ').next().is_some_and(|program| {
            matches!(program, "cd" | "export" | "source" | "." | "set" | "true")
        });
        if !is_prelude {
            break;
        }
        rest = after.trim_start();
    }
    // The reader behind a pipe shows a part of the output.
    let rest = match rest.split_once('|') {
        Some((before, after)) if !after.starts_with('|') && is_reader(after) => before,
        _ => rest,
    };
    let mut words = Vec::new();
    for word in rest.split_whitespace() {
        let is_variable = words.is_empty()
            && word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty()
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
        let is_noise = PRINTING.contains(&word) || matches!(word, "2>&1" | "time" | "env" | "&>1");
        if !is_variable && !is_noise {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Returns whether two command lines run the same thing.
pub fn same_command(one: &str, other: &str) -> bool {
    let one = normal_form(one);
    !one.is_empty() && one == normal_form(other)
}

/// Returns whether a command line can change something: at least one of its commands is not known to only read.
pub fn changes_something(command: &str) -> bool {
    command
        .split(['|', ';', '\n'])
        .flat_map(|part| part.split("&&"))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .any(|part| !is_reader(part) || writes_a_file(part))
}

/// Returns whether output is redirected to a file.
fn writes_a_file(part: &str) -> bool {
    let mut words = part.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let Some((before, after)) = word.split_once('>') else {
            continue;
        };
        let target = after.trim_start_matches('>');
        let target = if target.is_empty() {
            words.peek().copied().unwrap_or_default()
        } else {
            target
        };
        let is_descriptor = target.starts_with('&') || target == "/dev/null";
        if !is_descriptor && before.bytes().all(|byte| byte.is_ascii_digit()) {
            return true;
        }
    }
    false
}

/// Returns whether the program of a command only reads.
fn is_reader(part: &str) -> bool {
    let mut words = part.split_whitespace().filter(|word| !word.contains('='));
    let Some(program) = words.next() else {
        return true;
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    if program == "find" || program == "fd" {
        return !part.contains("-exec") && !part.contains("-delete") && !part.contains(" -x");
    }
    if READERS.contains(&program) {
        return true;
    }
    let subcommand = words.find(|word| !word.starts_with('-'));
    READING.iter().any(|(name, reading)| {
        *name == program && subcommand.is_none_or(|subcommand| reading.contains(&subcommand))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-KNOW-1: a command is the same with another environment, folder or verbosity, and not with another target.
    #[test]
    fn a_command_is_the_same_whatever_it_prints() {
        for other in [
            "pytest tests/a.py",
            "cd /src && pytest tests/a.py",
            "PYTHONPATH=. pytest -x -v tests/a.py 2>&1 | tail -20",
            "  pytest   tests/a.py -q",
        ] {
            assert!(same_command("pytest tests/a.py", other), "{other}");
        }
        for other in [
            "pytest tests/b.py",
            "pytest",
            "",
            "pytest tests/a.py && rm x",
        ] {
            assert!(!same_command("pytest tests/a.py", other), "{other}");
        }
        assert!(!same_command("", ""));
    }

    /// CAKE-KNOW-1: a command that only reads is not part of a fix.
    #[test]
    fn what_only_reads_is_told_from_what_changes() {
        for command in [
            "ls -la",
            "cat a | grep b",
            "git status && git diff",
            "cd x && pwd",
            "find . -name '*.py'",
            "grep x y 2>/dev/null",
            "FOO=1 echo x",
        ] {
            assert!(!changes_something(command), "{command}");
        }
        for command in [
            "pip install requests",
            "sed -i s/a/b/ f",
            "echo x > f",
            "cat <a >>b",
            "git add . && git commit",
            "find . -delete",
            "npm install",
            "ls; touch x",
        ] {
            assert!(changes_something(command), "{command}");
        }
    }
}
