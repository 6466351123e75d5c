//! The groups of commands in `callosum --help`, and `callosum help TOPIC`.
//!
//! clap has no groups of commands. [`GROUPS`] is the table that the help is written from, with the one-line description
//! of each command. A test holds that every command is in exactly one group.

use std::ffi::OsString;
use std::fmt::Write as _;

use super::global_args::GLOBAL_OPTIONS;
use super::legacy_args;

/// Commands that serve one purpose.
#[derive(Debug)]
pub(super) struct Group {
    /// The heading, which is also the topic of `callosum help`.
    name: &'static str,
    /// Purpose of the group, in one sentence without a period.
    about: &'static str,
    /// Names of commands with their descriptions, most useful first.
    commands: &'static [(&'static str, &'static str)],
}

/// Every command that help shows. A description has at most 44 characters, so that a line fits into 60 columns.
pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "Delegate",
        about: "analyze the code, and keep the answers",
        commands: &[
            ("scan", "Map the repository"),
            ("deps", "Show which parts depend on which"),
            ("tests", "Show which tests cover which code"),
            ("api", "List public names, routes and commands"),
            ("delegate", "Delegate a task and keep its checked answer"),
            ("find", "Search code, decisions, beads and answers"),
            ("executor", "Register, list and check executors"),
            ("ledger", "Query and verify the stored answers"),
            ("audit", "Query and verify the audit journal"),
            ("replay", "Rebuild the ledger from the audit journal"),
        ],
    },
    Group {
        name: "Guard",
        about: "stop dangerous commands of agents",
        commands: &[
            ("guard", "Check commands and review decisions"),
            ("snapshot", "Save and restore the working tree"),
            ("undo", "Undo changes that an agent made"),
        ],
    },
    Group {
        name: "Errors",
        about: "catch errors of commands, and remember fixes",
        commands: &[
            ("watch", "Run a command and report its errors"),
            ("shell", "Run a shell or an agent, guarded and watched"),
            ("recall", "List errors of agents and their fixes"),
            ("operator", "Check and render messages about errors"),
        ],
    },
    Group {
        name: "Sessions",
        about: "keep decisions and tasks across sessions",
        commands: &[
            ("session", "Record decisions and check their evidence"),
            ("bead", "Track tasks as YAML files in .beads"),
            ("memory", "Index past sessions of your agents"),
        ],
    },
    Group {
        name: "Mesh",
        about: "connect the agents on this machine",
        commands: &[
            ("mesh", "Exchange messages, tasks and leases"),
            ("top", "Watch agents, tasks and the guard live"),
            ("open", "Open the page that shows all of it"),
            ("serve", "Serve the page, mesh events and metrics"),
            ("metrics", "Print metrics of guard and operator"),
        ],
    },
    PLANS,
    Group {
        name: "Setup",
        about: "install, configure and inspect Callosum",
        commands: &[
            ("init", "Set up Callosum in this project"),
            ("uninstall", "Remove Callosum from clients and project"),
            ("status", "Show the state of this project"),
            ("doctor", "Find problems and show how to fix them"),
            ("self", "Verify the installation of Callosum"),
            ("config", "Show, check and change settings"),
            ("trust", "Trust settings that come with a repository"),
            ("generate", "Print completions, man pages and schemas"),
            ("hook", "Answer a hook (clients run this)"),
            ("mcp", "Serve tools to a client over MCP"),
            ("help", "Show help for a command or a group"),
        ],
    },
];

/// Plans, and the goals that they reach.
#[cfg(feature = "plans")]
const PLANS: Group = Group {
    name: "Plans",
    about: "run programs of several steps with limited rights",
    commands: &[
        ("do", "Reach a goal: plan, review and run"),
        ("intent", "Record goals and what became of them"),
        ("delegation", "Explain where a goal is planned"),
        ("model", "List and check models that plans ask"),
        ("plan", "Check, run and resume plans"),
        ("capability", "List and revoke capabilities of plans"),
        ("constitution", "Show, check and sign the policies of plans"),
    ],
};

/// The goals alone, in a program without plans.
#[cfg(not(feature = "plans"))]
const PLANS: Group = Group {
    name: "Goals",
    about: "record goals, and ask models about them",
    commands: &[
        ("intent", "Record goals and what became of them"),
        ("model", "Check whether models answer"),
    ],
};

/// Describes the commands as [`GROUPS`] does, and lists them by group in the help of the program.
pub(super) fn grouped(mut program: clap::Command) -> clap::Command {
    for (name, about) in GROUPS.iter().flat_map(|group| group.commands) {
        // clap adds `help` itself, when it parses.
        if program.find_subcommand(name).is_none() {
            continue;
        }
        program = program.mut_subcommand(name, |command| described(command, about));
    }
    let styles = program.get_styles().clone();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for Group {
        name,
        about,
        commands,
    } in GROUPS
    {
        let _ = writeln!(template, "{header}{name}:{header:#} {about}");
        for (command, about) in *commands {
            let _ = writeln!(template, "  {literal}{command:<12}{literal:#}  {about}");
        }
        template.push('\n');
    }
    let _ = write!(
        template,
        "{header}{GLOBAL_OPTIONS}:{header:#}\n{{options}}{{after-help}}"
    );
    program.help_template(template)
}

/// Replaces the short description of a command, which is the first paragraph of the long one as well.
fn described(command: clap::Command, about: &'static str) -> clap::Command {
    let long = command.get_long_about().map(ToString::to_string);
    let command = command.about(about);
    match long.as_deref().and_then(|long| long.split_once("\n\n")) {
        Some((_, rest)) => command.long_about(format!("{about}\n\n{rest}")),
        None => command,
    }
}

/// Returns the page for `callosum help TOPIC`, if the topic is the name of a group. For a name that a command has as well,
/// it is the command's page with the rest of the group below.
pub(super) fn topic(arguments: &[OsString], mut program: clap::Command) -> Option<String> {
    let (verb, rest) = legacy_args::verb_and_rest(arguments)?;
    let [word] = rest else {
        return None;
    };
    let word = word.to_str()?.to_lowercase();
    let group = GROUPS
        .iter()
        .find(|group| verb == "help" && group.name.to_lowercase() == word)?;
    program.build();
    let styles = program.get_styles().clone();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut page = String::new();
    match program.find_subcommand_mut(&word) {
        Some(command) => {
            let _ = writeln!(page, "{}", command.render_long_help().ansi());
            let _ = writeln!(page, "{header}Related commands:{header:#}");
        }
        None => {
            let _ = writeln!(page, "{header}{}:{header:#} {}\n", group.name, group.about);
        }
    }
    for (command, about) in group.commands.iter().filter(|(name, _)| *name != word) {
        let _ = writeln!(page, "  {literal}{command:<12}{literal:#}  {about}");
    }
    let _ = writeln!(
        page,
        "\nRun `callosum help COMMAND` for the options of a command."
    );
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest description, in characters.
    const WIDEST: usize = 44;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let mut program = super::super::tree();
        program.build();
        let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
        let mut shown: Vec<String> = shown.map(|one| one.get_name().to_owned()).collect();
        let grouped = GROUPS.iter().flat_map(|group| group.commands);
        let mut grouped: Vec<String> = grouped.map(|(name, _)| (*name).to_owned()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    fn a_line_of_help_fits_into_60_columns() {
        for (name, about) in GROUPS.iter().flat_map(|group| group.commands) {
            assert!(name.len() <= 12 && about.len() <= WIDEST, "{name}: {about}");
            assert!(!about.ends_with('.'), "{name}: {about}");
        }
        for Group { name, about, .. } in GROUPS {
            assert!(name.len() + 2 + about.len() <= 60, "{name}: {about}");
        }
    }

    fn page(line: &str) -> Option<String> {
        let words = line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let page = topic(&words, super::super::tree())?;
        Some(anstream::adapter::strip_str(&page).to_string())
    }

    #[test]
    fn a_group_is_a_topic_of_help() {
        let setup = page("callosum help setup").unwrap();
        assert!(setup.starts_with("Setup: install"), "{setup}");
        assert!(
            setup.contains("  doctor        Find problems and"),
            "{setup}"
        );
        assert_eq!(page("callosum help Setup").as_deref(), Some(&*setup));
        assert_eq!(
            page("callosum -C x --json help plans").as_deref(),
            page("callosum help plans").as_deref()
        );
    }

    #[test]
    fn a_name_of_a_command_and_a_group_shows_both() {
        let guard = page("callosum help guard").unwrap();
        assert!(guard.contains("Usage: callosum guard"), "{guard}");
        assert!(guard.contains("Related commands:\n  snapshot"), "{guard}");
        for other in ["callosum help ledger", "callosum guard", "callosum help"] {
            assert_eq!(page(other), None, "{other}");
        }
        assert_eq!(page("callosum help guard check"), None);
    }
}
