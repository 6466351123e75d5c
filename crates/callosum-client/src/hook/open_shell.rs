//! Recognizes a command that opens a shell or an interpreter and leaves it open for more.
//!
//! Codex keeps such a process and types into it with `write_stdin`, which it reports to no hook: what is typed after
//! `bash` is seen by no guard. [`opens`] says which commands do that. It reads words and not the whole language of the
//! shell: a command that it takes for one with something to do is judged as any other.

use std::path::Path;

/// Shells, which read commands from their input unless they are given some.
const SHELLS: [&str; 13] = [
    "sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "tcsh", "csh", "pwsh", "nu", "xonsh",
];

/// Interpreters that read statements from their input unless they are given a file or a text.
const INTERPRETERS: [&str; 20] = [
    "ipython", "bpython", "node", "irb", "pry", "lua", "luajit", "R", "julia", "ghci", "tclsh",
    "sbcl", "clj", "iex", "erl", "scala", "jshell", "deno", "bun", "php",
];

/// Programs that run the command behind them, and their options that take a value.
const WRAPPERS: [(&str, &[&str]); 15] = [
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("exec", &["-a"]),
    ("command", &[]),
    ("nohup", &[]),
    ("time", &["-o", "-f"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("unbuffer", &[]),
    ("rlwrap", &[]),
    ("winpty", &[]),
    (
        "sudo",
        &["-u", "-g", "-C", "-D", "-h", "-p", "-R", "-T", "-U"],
    ),
    ("doas", &["-u", "-C"]),
    ("chroot", &[]),
];

/// Options of shells, interpreters and `ssh` that take a value.
const VALUED: [&str; 22] = [
    "-o",
    "-O",
    "--rcfile",
    "--init-file",
    "-W",
    "-X",
    "-r",
    "--require",
    "-p",
    "-i",
    "-l",
    "-F",
    "-J",
    "-L",
    "-R",
    "-D",
    "-b",
    "-E",
    "-S",
    "-w",
    "-m",
    "-c",
];

/// Programs that run a command in a container.
const CONTAINERS: [&str; 7] = [
    "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "incus",
];

/// Deeper than this no shell is looked for in the text that another one is given.
const DEEPEST: usize = 4;

/// Returns whether a command leaves a shell or an interpreter open that waits for what is typed.
pub(super) fn opens(command: &str) -> bool {
    opens_at(command, 0)
}

fn opens_at(command: &str, depth: usize) -> bool {
    depth < DEEPEST
        && simple_commands(command).iter().any(|simple| {
            let words = shlex::split(simple).unwrap_or_default();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            is_open(&words, depth)
        })
}

/// The simple commands of a line that read from the terminal: none behind a pipe, and none with an input of its own.
fn simple_commands(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut current = String::new();
    let (mut quote, mut is_piped, mut has_input) = (None, false, false);
    let mut letters = command.chars().peekable();
    loop {
        let letter = letters.next();
        match (letter, quote) {
            (Some('\\'), None | Some('"')) => {
                current.push('\\');
                current.extend(letters.next());
            }
            (Some(one), Some(open)) => {
                quote = quote.filter(|_| one != open);
                current.push(one);
            }
            (Some(one @ ('\'' | '"')), None) => {
                quote = Some(one);
                current.push(one);
            }
            (Some('<'), None) => {
                has_input = true;
                current.push(' ');
            }
            (None | Some(';' | '&' | '|' | '\n' | '(' | ')'), _) => {
                let simple = std::mem::take(&mut current);
                if !is_piped && !has_input {
                    all.push(simple);
                }
                has_input = false;
                is_piped = letter == Some('|') && letters.next_if_eq(&'|').is_none();
                if letter.is_none() {
                    return all;
                }
            }
            (Some(one), None) => current.push(one),
        }
    }
}

fn is_open(words: &[&str], depth: usize) -> bool {
    let is_assignment = |word: &&&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let set = words.iter().take_while(is_assignment).count();
    let Some((program, arguments)) = words[set..].split_first() else {
        return false;
    };
    let name = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    if let Some((_, valued)) = WRAPPERS.iter().find(|(known, _)| *known == name) {
        let rest = operands(arguments, valued);
        let is_login = matches!(name, "sudo" | "doas")
            && rest.is_empty()
            && arguments
                .iter()
                .any(|word| matches!(*word, "-i" | "-s" | "--login" | "--shell"));
        let rest = if name == "chroot" {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
        return is_login || is_open(rest, depth);
    }
    if name == "timeout" {
        let rest = operands(arguments, &["-k", "-s", "--signal", "--kill-after"]);
        return rest
            .split_first()
            .is_some_and(|(_, rest)| is_open(rest, depth));
    }
    let asks_only = |word: &&str| matches!(*word, "--version" | "--help" | "-V" | "-h");
    if arguments.iter().any(asks_only) {
        return false;
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if SHELLS.contains(&name) {
        return is_open_shell(arguments, depth);
    }
    if matches!(plain, "python" | "pypy") {
        return is_open_python(arguments);
    }
    if INTERPRETERS.contains(&name) {
        return is_open_interpreter(name, arguments);
    }
    match name {
        "perl" => arguments.is_empty() || arguments.iter().any(|word| word.starts_with("-d")),
        "su" => !arguments
            .iter()
            .any(|word| word.starts_with("-c") || *word == "--command"),
        "ssh" => {
            let is_dumb = |word: &&str| matches!(*word, "-N" | "-T" | "-Q" | "-O" | "-G" | "-W");
            operands(arguments, &VALUED).len() == 1 && !arguments.iter().any(is_dumb)
        }
        _ if CONTAINERS.contains(&name) => is_open_container(arguments, depth),
        _ => false,
    }
}

fn is_open_shell(arguments: &[&str], depth: usize) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        match *word {
            "-Command" | "--command" => {
                return rest.next().is_some_and(|text| opens_at(text, depth + 1));
            }
            "-s" | "-" => return true,
            "-o" | "-O" | "+o" | "+O" | "--rcfile" | "--init-file" => drop(rest.next()),
            _ if letters.is_some_and(|letters| letters.contains('c')) => {
                return rest.next().is_some_and(|text| opens_at(text, depth + 1));
            }
            _ if word.starts_with(['-', '+']) => {}
            // A script.
            _ => return false,
        }
    }
    true
}

fn is_open_python(arguments: &[&str]) -> bool {
    let mut is_asked = false;
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        match letters {
            Some("") => return true,
            Some("W" | "X") => drop(rest.next()),
            Some(letters) => {
                is_asked |= letters.contains('i');
                if letters.contains(['c', 'm']) {
                    return is_asked;
                }
            }
            None if word.starts_with("--") => {}
            // A script, after which `-i` leaves it open.
            None => return is_asked,
        }
    }
    true
}

fn is_open_interpreter(name: &str, arguments: &[&str]) -> bool {
    let has = |words: &[&str]| arguments.iter().any(|word| words.contains(word));
    if has(&["-i", "--interactive"]) && name != "php" {
        return true;
    }
    match name {
        "php" => has(&["-a", "--interactive"]) || arguments.is_empty(),
        "deno" | "bun" => {
            arguments.is_empty() && name == "deno" || arguments.first() == Some(&"repl")
        }
        _ => {
            let is_given = |word: &&str| {
                matches!(
                    *word,
                    "-e" | "-p" | "--eval" | "--print" | "-f" | "CMD" | "-s" | "--script"
                )
            };
            operands(arguments, &VALUED).is_empty() && !arguments.iter().any(is_given)
        }
    }
}

/// Whether a shell is opened in a container: a terminal is requested, and the last word is a shell.
fn is_open_container(arguments: &[&str], depth: usize) -> bool {
    let runs = |word: &&str| matches!(*word, "exec" | "run");
    if !arguments.iter().any(runs) {
        return false;
    }
    let takes_input = |word: &&str| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        *word == "--interactive"
            || letters.is_some_and(|letters| letters == "i" || letters == "it" || letters == "ti")
    };
    if !arguments.iter().any(takes_input) {
        return false;
    }
    let begins = |word: &&str| {
        let name = Path::new(word).file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            SHELLS.contains(&name) || name.starts_with("python") || INTERPRETERS.contains(&name)
        })
    };
    // The name of an image may be that of an interpreter; the last word is run.
    let last = arguments.iter().rposition(begins);
    last.is_some_and(|at| is_open(&arguments[at..], depth))
}

/// Returns the words after a program's options.
fn operands<'a, 'w>(arguments: &'a [&'w str], valued: &[&str]) -> &'a [&'w str] {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        if *word == "--" {
            return &arguments[at + 1..];
        }
        let is_set = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty());
        if !word.starts_with('-') && !is_set || *word == "-" {
            break;
        }
        at += if valued.contains(word) { 2 } else { 1 };
    }
    arguments.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: a shell or interpreter that waits for what is typed is found, however it is started.
    #[test]
    fn what_stays_open_for_more_is_found() {
        for command in [
            "bash",
            "/bin/sh -i",
            "bash -l",
            "bash --norc -i",
            "zsh",
            "sh -s",
            "FOO=1 bash",
            "env -i bash",
            "exec bash",
            "sudo -i",
            "sudo -u postgres bash",
            "su - postgres",
            "cd src && bash",
            "ls; python3",
            "python3",
            "python3.12 -i",
            "python3 -i setup.py",
            "python3 -q -X dev",
            "node",
            "node -i",
            "irb",
            "php -a",
            "deno repl",
            "bash -c 'exec bash -i'",
            "bash -lc python3",
            "timeout 60 bash",
            "nohup bash &",
            "stdbuf -oL python3 -u",
            "docker exec -it web bash",
            "kubectl exec -i pod -- sh",
            "ssh host",
            "ssh -p 22 host",
            "(cd x; bash)",
            "perl -de1",
            "bash -o pipefail",
        ] {
            assert!(opens(command), "{command}");
        }
        for command in [
            "",
            "ls",
            "bash run.sh",
            "bash -c 'ls'",
            "bash -lc 'git status'",
            "bash < script",
            "echo ls | bash",
            "curl x | sh -s",
            "python3 -c 'print(1)'",
            "python3 -m pytest",
            "python3 run.py",
            "python3 - <<'E'\nprint(1)\nE",
            "node -e 'x'",
            "node server.js",
            "echo bash",
            "which bash",
            "git bash",
            "bash --version",
            "python3 -V",
            "sudo ls",
            "ssh host ls",
            "ssh -N -L 1:a:2 host",
            "docker exec web bash -c ls",
            "docker run -it img ls",
            "env",
            "env FOO=1 ls",
            "su -c ls",
            "bash -o pipefail run.sh",
            "deno run x.ts",
            "php index.php",
            "'",
            "bun test",
        ] {
            assert!(!opens(command), "{command}");
        }
    }
}
