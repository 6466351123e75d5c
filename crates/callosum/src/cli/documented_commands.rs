//! Tests that every command in README and `docs/` is one that the parser accepts.
//!
//! A whole line of a code block must parse. A command in the text may be a part of one, so its
//! verbs and options must exist.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads pages of the repository"
)]

use std::path::{Path, PathBuf};

use super::{legacy_args, tree};

/// A command as a page writes it, and where.
#[derive(Debug)]
struct Documented {
    place: String,
    text: String,
    /// It has a line of a code block to itself.
    is_whole: bool,
}

/// Returns the commands of one page.
fn commands(page: &str, text: &str) -> Vec<Documented> {
    let mut commands = Vec::new();
    let mut fence = None;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{page}:{}", number + 1);
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(info.to_owned()),
                Some(_) => None,
            };
            continue;
        }
        match &fence {
            Some(info) if ["", "console", "sh", "bash"].contains(&info.as_str()) => {
                let line = line.strip_prefix("$ ").unwrap_or(line);
                if line.starts_with("callosum ") && !line.contains('…') {
                    commands.push(Documented {
                        place,
                        text: line.to_owned(),
                        // What the shell would put there is unknown.
                        is_whole: !line.contains("$("),
                    });
                }
            }
            Some(_) => {}
            None => {
                let spans = line.split('`').skip(1).step_by(2);
                commands.extend(
                    spans
                        .filter(|span| span.starts_with("callosum "))
                        .map(|span| Documented {
                            place: place.clone(),
                            text: span.to_owned(),
                            is_whole: false,
                        }),
                );
            }
        }
    }
    commands
}

/// Returns the words of the first command of a shell line, without its comment and its pipe.
fn words(text: &str) -> Option<Vec<String>> {
    let text = text.split("  #").next().unwrap_or(text);
    let words = shlex::split(text)?;
    let ends = |word: &String| {
        ["|", "||", "&&", ";", "<", ">", ">>", "2>", "&"].contains(&word.as_str())
            || word.starts_with('#')
    };
    Some(words.into_iter().take_while(|word| !ends(word)).collect())
}

/// Returns why a whole command does not parse.
fn refused(words: Vec<String>) -> Option<String> {
    let words = legacy_args::as_verbs(words.into_iter().map(Into::into).collect());
    if super::groups::topic(&words, tree()).is_some() {
        return None;
    }
    let error = tree().try_get_matches_from(words).err()?;
    error.use_stderr().then(|| error.to_string())
}

/// Returns the verb or option of a part of a command that does not exist.
fn unknown(program: &clap::Command, words: &[String]) -> Option<String> {
    let mut command = program;
    let mut takes_verb = true;
    for word in words.iter().skip(1) {
        if word == "--" {
            return None;
        }
        if let Some(option) = word.strip_prefix("--") {
            let option = option.split('=').next().unwrap_or(option);
            let known = |command: &clap::Command| {
                command.get_arguments().any(|argument| {
                    let aliases = argument.get_all_aliases().unwrap_or_default();
                    argument.get_long() == Some(option) || aliases.contains(&option)
                })
            };
            if !known(command) && !known(program) && !["help", "version"].contains(&option) {
                return Some(word.clone());
            }
        } else if takes_verb && let Some(below) = command.find_subcommand(word) {
            command = below;
        } else {
            let is_verb = word
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '-')
                && !word.starts_with('-');
            if takes_verb
                && is_verb
                && command.get_positionals().count() == 0
                && command.has_subcommands()
            {
                return Some(word.clone());
            }
            takes_verb = false;
        }
    }
    None
}

/// Returns README and the pages below `docs`, without the generated one.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && !path.ends_with("reference/cli.md")
            {
                pages.push(path);
            }
        }
    }
    pages
}

#[test]
fn every_command_of_the_documentation_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut program = tree();
    program.build();
    let mut findings = Vec::new();
    let mut count = 0;
    for page in pages(&root) {
        let text = std::fs::read_to_string(&page).expect("the page can be read");
        let name = page.strip_prefix(&root).expect("it is below the root");
        for command in commands(&name.display().to_string(), &text) {
            count += 1;
            let problem = match words(&command.text) {
                // A part of a command may end within quotes.
                None => command
                    .is_whole
                    .then(|| "its quotes do not match".to_owned()),
                Some(words) if command.is_whole => refused(words),
                Some(words) => unknown(&program, &words),
            };
            if let Some(problem) = problem {
                findings.push(format!("{}: `{}`: {problem}", command.place, command.text));
            }
        }
    }
    assert!(count > 200, "only {count} commands were read");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn an_option_or_a_verb_that_does_not_exist_is_found() {
    let mut program = tree();
    program.build();
    let words = |text: &str| words(text).expect("quotes match");
    assert_eq!(
        unknown(&program, &words("callosum ledger frobnicate")).as_deref(),
        Some("frobnicate")
    );
    assert_eq!(
        unknown(&program, &words("callosum session decide --why x")).as_deref(),
        Some("--why")
    );
    assert_eq!(
        unknown(&program, &words("callosum session decide --reason")),
        None
    );
    assert!(refused(words("callosum ledger query --limit many")).is_some());
    assert!(refused(words("callosum ledger query --limit 3 | wc")).is_none());
}
