//! [`check_command`]: which commands a message may name.
//!
//! A message is an instruction to an agent that holds a shell, so this list is closed: a program and a form of its
//! arguments from [`FORMS`], a file of the project, or a program that the project declares. The caller's guard has the last
//! word. Nothing that deletes, publishes, sends, evaluates text or takes code from an address is in the list, even if a
//! guard allows it.

use super::{EventFacts, GateFacts, file::check_file};
use crate::{
    classify::{Ecosystem, is_package_name, resembles_popular},
    operator::message::is_command_text,
};

/// Programs and forms of their arguments, one program per line; the placeholders are explained in the file.
const FORMS: &str = include_str!("commands.txt");

/// Programs that no message names, even if the project declares them: they delete, send, evaluate, or act as someone else.
const NEVER: &str = "\
    apt apt-get ash at awk aws az base64 bash brew busybox cat chmod chown command cp crontab curl dash dd dnf doas \
    echo env eval exec export fdisk find fish gcloud gh halt helm history init kill killall ksh ln mkfs mount mv nc \
    ncat nohup nothing passwd pkill poweroff printenv pwsh reboot rm rmdir rsync scp sed sftp sh shred shutdown source \
    ssh su sudo systemctl tee telnet truncate umount unlink wget xargs yes yum zsh";

/// Options that a command may have where its form has `<f>` or `<w>`, in alphabetical order. The list is closed, because tools
/// have options that run, write or fetch something: `-exec`, `--output`, `-p PLUGIN`.
const OPTIONS: &str = "\
    -- --all-features --all-targets --bail --bin --bins --check --cov --coverage --diff --doc --exact --example \
    --examples --features --ff --lf --lib --locked --maxfail=1 --no-default-features --no-fail-fast --nocapture \
    --offline --output-on-failure --package --quiet --release --runInBand --show-output --tb=long --tb=short --test \
    --test-threads=1 --tests --verbose --workspace -count=1 -p -q -race -run -s -short -v -vv -x";

/// Targets of build tools that a message may name though the project was not asked whether it has them.
const USUAL_TARGETS: &str = "\
    all build check ci clean compile coverage docs fmt format generate lint spec test tests typecheck unit \
    verify";

/// Parts of a target's name that show that it changes more than the working copy.
const NEVER_TARGETS: &str = "\
    clobber delete deploy destroy distclean drop eject flush nuke prod production prune publish purge push release \
    reset wipe";

/// Returns whether a message may name the command.
///
/// # Errors
/// The reason, for the verdict.
pub(super) fn check_command(command: &str, surroundings: &GateFacts<'_>) -> Result<(), String> {
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
        return Err(format!("{program} is not a program"));
    }
    if let Some(argument) = arguments.iter().find(|argument| !is_safe(argument)) {
        return Err(format!("argument {argument} is not allowed in a message"));
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if is_in(NEVER, &name.to_ascii_lowercase()) {
        return Err(format!("{name} is never allowed in a message"));
    }
    let is_wrapper = matches!(program, "./gradlew" | "./mvnw");
    if program.contains('/') {
        check_argument_file(program, command, surroundings)
            .map_err(|_| format!("{program} is not a file of the project"))?;
    }
    let known = match program {
        "./gradlew" => "gradle",
        "./mvnw" => "mvn",
        "vendor/bin/phpunit" => "phpunit",
        other => other,
    };
    match forms(known) {
        Some(mut forms) => {
            if !forms.any(|form| fits(form, known, command, arguments, surroundings)) {
                return Err(format!("{command} is not a known form of {known}"));
            }
        }
        None if is_wrapper => return Err(format!("{program} is not a known program")),
        None if program.contains('/') || (surroundings.declares)(program) => {
            if !arguments.iter().all(|argument| is_target(argument)) {
                return Err(format!("{command} is not a plain call of {program}"));
            }
        }
        None => return Err(format!("{program} is not a known program")),
    }
    if !is_asked_for(program, arguments, command, surroundings) {
        return Err(format!(
            "{command} adds something that the error does not name"
        ));
    }
    if !is_test_of_event(arguments, command, surroundings) {
        return Err(format!(
            "{command} selects a test that the error does not name"
        ));
    }
    if (surroundings.allows)(command) {
        Ok(())
    } else {
        Err("the guard does not allow the command".to_owned())
    }
}

/// Returns the forms of a program of the list.
fn forms(program: &str) -> Option<impl Iterator<Item = &'static str>> {
    FORMS
        .lines()
        .find_map(|line| line.strip_prefix(program)?.strip_prefix(": "))
        .map(|forms| forms.split(" | "))
}

/// Returns whether the word is in a list of words.
fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Returns whether a command that adds a package is a fix of the event, or adds only names that the error's message has. Without
/// an event, and for an event without a message and a fix, there is nothing to compare with.
fn is_asked_for(
    program: &str,
    arguments: &[&str],
    command: &str,
    surroundings: &GateFacts<'_>,
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
    if !is_of_ecosystem(program, event) {
        return false;
    }
    let message = event.message.unwrap_or_default().to_lowercase();
    let named = named_in(&message);
    let mut added = added.map(|word| {
        let end = word.get(1..).and_then(|rest| rest.find(['@', '=']));
        end.map_or(*word, |end| &word[..=end]).to_lowercase()
    });
    added.all(|name| named.contains(&&*name))
}

/// Returns whether a program that adds packages is one of the language that the error is of, as far as its class or file shows.
fn is_of_ecosystem(program: &str, event: EventFacts<'_>) -> bool {
    const PYTHON: [&str; 9] = [
        "conda", "pdm", "pip", "pip3", "pipenv", "poetry", "python", "python3", "uv",
    ];
    const NODE: [&str; 4] = ["bun", "npm", "pnpm", "yarn"];
    let is_import = matches!(event.error_type, "ModuleNotFoundError" | "ImportError");
    let end = event.file.and_then(|file| file.rsplit('.').next());
    match end {
        Some("py" | "pyi") => PYTHON.contains(&program),
        Some("js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts") => {
            NODE.contains(&program)
        }
        Some("rs") => program == "cargo",
        Some("go") => program == "go",
        Some("rb") => program == "gem",
        Some("php") => program == "composer",
        _ => !is_import || PYTHON.contains(&program),
    }
}

/// Returns the names in a message: what it quotes, with the first part of a path, else its words.
fn named_in(message: &str) -> Vec<&str> {
    let quoted: Vec<&str> = message
        .split(['\'', '"', '`'])
        .skip(1)
        .step_by(2)
        .filter(|name| !name.contains(' '))
        .collect();
    if quoted.is_empty() {
        let is_end = |letter: char| {
            !(letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '@'))
        };
        return message
            .split(is_end)
            .map(|word| word.trim_end_matches('.'))
            .filter(|word| !word.is_empty())
            .collect();
    }
    let mut names = quoted.clone();
    for name in quoted {
        names.extend(name.split(['.', '/', ':']).next());
    }
    names
}

/// Returns whether every test that a command selects is the one that failed, or is named by the error. Without an event, and for a
/// fix of the event, there is nothing to compare with.
fn is_test_of_event(arguments: &[&str], command: &str, surroundings: &GateFacts<'_>) -> bool {
    const SELECTING: [&str; 6] = ["-k", "-run", "-t", "--tests", "--test", "--filter"];
    let Some(event) = surroundings.event else {
        return true;
    };
    if event.fixes.contains(&Some(command)) {
        return true;
    }
    let message = event.message.unwrap_or_default();
    let is_known = |test: &str| {
        let last = test.rsplit("::").next().unwrap_or(test);
        let is_word = |text: &str| {
            text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                .any(|word| word == last)
        };
        event.test.is_some_and(|own| own == test || is_word(own)) || is_word(message)
    };
    let selected = arguments
        .windows(2)
        .filter(|pair| SELECTING.contains(&pair[0]))
        .map(|pair| pair[1]);
    let named = arguments
        .iter()
        .filter_map(|argument| argument.split_once("::"))
        .map(|(_, test)| test);
    selected.chain(named).all(is_known)
}

/// Returns whether an argument stays in the project and takes nothing from an address.
fn is_safe(argument: &str) -> bool {
    !argument.starts_with('/')
        && !argument.contains("=/")
        && !argument.contains("//")
        && !argument.contains("git+")
        && !argument.split(['/', '=', ':']).any(|part| part == "..")
}

/// Returns whether the arguments have the form.
fn fits(
    form: &str,
    program: &str,
    command: &str,
    arguments: &[&str],
    surroundings: &GateFacts<'_>,
) -> bool {
    let mut rest = arguments;
    let mut parts = form.split(' ').peekable();
    while let Some(part) = parts.next() {
        match part {
            "<alone>" => return rest.is_empty(),
            "<n>" => {
                return !rest.is_empty() && rest.iter().all(|argument| is_name(argument, program));
            }
            "<w>" => {
                return rest
                    .iter()
                    .all(|argument| is_in(OPTIONS, argument) || is_word(argument));
            }
            "<t>" => {
                return matches!(rest, [target] if is_target(target)
                    && (is_in(USUAL_TARGETS, target) || (surroundings.declares)(command)));
            }
            "<f>" => {
                let end = match parts.peek() {
                    Some(next) => rest.iter().position(|argument| argument == next),
                    None => Some(rest.len()),
                };
                let Some(end) = end else { return false };
                if !rest[..end].iter().all(|argument| {
                    is_in(OPTIONS, argument) || is_file(argument, command, surroundings)
                }) {
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

/// Returns whether this is the name of a package, module or class, with an optional version, and no typo of a popular one. A name
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

/// Returns whether this is a word that a test runner or compiler takes: a name, a test, a pattern of Go packages.
fn is_word(argument: &str) -> bool {
    let inner = argument.strip_prefix("./").unwrap_or(argument);
    matches!(argument, "." | "./...")
        || inner.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && !inner.contains(['=', '@', '+'])
}

/// Returns whether this is a file of the project, with an optional test after `::`, or the folder itself.
fn is_file(argument: &str, command: &str, surroundings: &GateFacts<'_>) -> bool {
    let file = argument.split("::").next().unwrap_or(argument);
    argument == "." || check_argument_file(file, command, surroundings).is_ok()
}

/// Checks a file of a command. A fix of the event may use any file of the project, every other command only those that the
/// message itself could name.
fn check_argument_file(
    file: &str,
    command: &str,
    surroundings: &GateFacts<'_>,
) -> Result<(), String> {
    let file = file.strip_prefix("./").unwrap_or(file);
    check_file(file, surroundings).or_else(|reason| {
        let is_fix = surroundings
            .event
            .is_some_and(|event| event.fixes.contains(&Some(command)));
        let anywhere = GateFacts {
            event: None,
            ..*surroundings
        };
        if is_fix {
            check_file(file, &anywhere)
        } else {
            Err(reason)
        }
    })
}

/// Returns whether this is the target of a build tool whose name says nothing of a deployment.
fn is_target(argument: &str) -> bool {
    argument.starts_with(|first: char| first.is_ascii_alphanumeric())
        && argument
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_:.-/".contains(&byte))
        && !argument
            .to_ascii_lowercase()
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|part| is_in(NEVER_TARGETS, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-VOICE-1: no program is listed twice, is also forbidden, or has an unknown placeholder.
    #[test]
    fn the_forms_are_sound() {
        let programs: Vec<&str> = FORMS
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_once(": ").unwrap().0)
            .collect();
        assert!(programs.len() > 70 && programs.is_sorted_by(|one, other| one < other));
        for program in programs {
            assert!(!is_in(NEVER, program), "{program}");
            for word in forms(program).unwrap().flat_map(|form| form.split(' ')) {
                let is_placeholder = ["<alone>", "<n>", "<f>", "<t>", "<w>"].contains(&word);
                assert!(
                    is_placeholder || !word.contains(['<', '>', '|']),
                    "{program}: {word}"
                );
                assert!(!word.is_empty(), "{program}");
            }
        }
        assert!(forms("# Nothing here").is_none() && forms("").is_none() && forms("car").is_none());
    }
}
