//! [`page`]: the help of every command as one Markdown page, `docs/reference/cli.md`.

use std::fmt::Write as _;

/// Columns that help is wrapped to, on every terminal.
const WIDTH: usize = 100;

/// Returns the page. `callosum generate reference` prints it, and a test holds the one in `docs` against it.
pub(super) fn page(program: clap::Command) -> String {
    let mut program = program.term_width(WIDTH);
    program.build();
    let mut page = "# Command line\n\n\
        The help of every command, as `callosum COMMAND --help` prints it. `callosum generate reference` writes this page.\n\n\
        Exit codes and error codes are on [a page of their own](../errors.md).\n"
        .to_owned();
    section(&mut page, &mut program, "callosum");
    page
}

/// Appends the help of a command, and of those below it.
fn section(page: &mut String, command: &mut clap::Command, path: &str) {
    let help = command.render_long_help().to_string();
    let _ = write!(page, "\n## {path}\n\n```text\n");
    for line in help.trim_end().lines() {
        let _ = writeln!(page, "{}", line.trim_end());
    }
    page.push_str("```\n");
    for below in command.get_subcommands_mut() {
        if below.is_hide_set() || below.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", below.get_name());
        section(page, below, &path);
    }
}
