//! [`Terminal`]: output settings of this process, decided once from options, environment and streams.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _},
    path::PathBuf,
    sync::OnceLock,
};

use anstream::{AutoStream, ColorChoice};
use callosum_host::{
    process::{self, Launch, Limits},
    terminal::{Size, size},
};
use jiff::tz::TimeZone;

use super::time;

/// The narrowest width that text is wrapped to.
const NARROWEST: usize = 60;

/// The pager of a person who has set none, if it is installed: it ends by itself at the end of a short text, passes
/// colors on, and leaves the text on the screen.
const USUAL_PAGER: &str = "less -FRX";

/// The options that `less` starts with if the person has set none; for a `$PAGER` of plain `less`.
const LESS: (&str, &str) = ("LESS", "FRX");

/// The output settings of this process.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    /// Whether notices, hints, warnings and progress are left out.
    is_quiet: bool,
    /// The program that shows what is longer than the screen.
    pager: Option<Launch>,
    /// Whether citations are links.
    has_links: bool,
    /// `$TZ`.
    named_zone: Option<String>,
    /// The time zone of the person, read when it is first needed.
    zone: OnceLock<TimeZone>,
}

/// The options of the command line that decide it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrintOptions {
    /// When to use color.
    pub(crate) color: ColorChoice,
    /// Whether notices are left out.
    pub(crate) is_quiet: bool,
    /// Whether a pager may be started.
    pub(crate) may_page: bool,
}

static TERMINAL: OnceLock<Terminal> = OnceLock::new();

impl Terminal {
    /// Decides how this process prints. Only the first call has an effect.
    pub(crate) fn prepare(options: PrintOptions, variables: Vec<(OsString, OsString)>) {
        options.color.write_global();
        let is_terminal = is_terminal();
        let pager = if options.may_page && is_terminal {
            pager(variables.clone())
        } else {
            None
        };
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.and_then(|(_, value)| value.to_str())
        };
        let terminal = Self {
            is_quiet: options.is_quiet,
            pager,
            has_links: is_colored() && links(variable, is_terminal),
            named_zone: variable("TZ").map(str::to_owned),
            zone: OnceLock::new(),
        };
        // A second call keeps the settings of the first.
        drop(TERMINAL.set(terminal));
    }

    /// Returns what was decided; a plain terminal without a pager if nothing was.
    pub(super) fn get() -> &'static Self {
        TERMINAL.get_or_init(Self::default)
    }

    /// Whether notices, hints, warnings and progress are left out.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether citations are links.
    pub(super) fn has_links(&self) -> bool {
        self.has_links
    }

    /// Returns the time zone of the person.
    pub(super) fn zone(&self) -> &TimeZone {
        let named = self.named_zone.as_deref();
        self.zone.get_or_init(|| time::zone(named))
    }

    /// Shows a text in the pager, if there is one and the text is longer than the screen. Returns whether it was shown.
    pub(super) fn page(&self, text: &str) -> bool {
        let (Some(pager), Some(size)) = (&self.pager, size()) else {
            return false;
        };
        if !is_longer(text, size) {
            return false;
        }
        let input = if is_colored() {
            text.as_bytes().to_vec()
        } else {
            anstream::adapter::strip_str(text).to_string().into_bytes()
        };
        // A pager that does not start is no reason to print nothing.
        let launch = Launch {
            input,
            ..pager.clone()
        };
        process::page(&launch).is_ok()
    }
}

/// Whether standard output is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard output shows colors.
pub(super) fn is_colored() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns the width that text is wrapped to; none if standard output is no terminal.
pub(super) fn columns() -> Option<usize> {
    Some(usize::from(size()?.columns).max(NARROWEST))
}

/// Returns whether a text takes more lines than a screen has, below the line for the next command.
fn is_longer(text: &str, size: Size) -> bool {
    let columns = usize::from(size.columns);
    let rows = text.lines().map(|line| {
        let line = anstream::adapter::strip_str(line).to_string();
        line.chars().count().div_ceil(columns).max(1)
    });
    rows.sum::<usize>() >= usize::from(size.rows)
}

/// Returns the person's pager: `$CALLOSUM_PAGER`, `$PAGER`, or `less`. No shell reads it. `cat` is no pager.
fn pager(mut environment: Vec<(OsString, OsString)>) -> Option<Launch> {
    let variable = |name: &str| {
        let found = environment.iter().find(|(known, _)| known == name);
        let value = found.and_then(|(_, value)| value.to_str());
        value.filter(|value| !value.trim().is_empty())
    };
    if variable("TERM").is_none_or(|term| term == "dumb") {
        return None;
    }
    let command = variable("CALLOSUM_PAGER").or_else(|| variable("PAGER"));
    let mut words = shlex::split(command.unwrap_or(USUAL_PAGER))?.into_iter();
    let program = words.next().filter(|program| program != "cat")?;
    let (name, value) = LESS;
    if variable(name).is_none() {
        environment.push((name.into(), value.into()));
    }
    Some(Launch {
        program: program.into(),
        arguments: words.map(OsString::from).collect(),
        folder: PathBuf::from("."),
        environment,
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: None,
            output_bytes: 0,
            error_bytes: 0,
        },
    })
}

/// Returns whether the terminal is known to show OSC 8 links. `FORCE_HYPERLINK` decides for any other, as for programs
/// that use the npm package `supports-hyperlinks`.
fn links<'v>(variable: impl Fn(&str) -> Option<&'v str>, is_terminal: bool) -> bool {
    if let Some(forced) = variable("FORCE_HYPERLINK").filter(|value| !value.is_empty()) {
        return forced != "0";
    }
    // A multiplexer shows what the terminal around it may not know.
    if !is_terminal || variable("TMUX").is_some() || variable("STY").is_some() {
        return false;
    }
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    let term = variable("TERM").unwrap_or_default();
    // VTE has had links since 0.50, and shows them without faults since then.
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"].contains(&program)
        || ["xterm-kitty", "xterm-ghostty", "alacritty", "foot"].contains(&term)
        || variable("WT_SESSION").is_some()
        || vte.is_some_and(|version| version >= 5000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        pairs.iter().map(owned).collect()
    }

    fn started(pairs: &[(&str, &str)]) -> Option<String> {
        let launch = pager(variables(&[&[("TERM", "xterm")], pairs].concat()))?;
        let words = launch.arguments.iter().map(|word| word.to_str().unwrap());
        let program = launch.program.to_str().unwrap();
        Some(
            [program]
                .into_iter()
                .chain(words)
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    #[test]
    fn the_pager_is_the_persons_own() {
        assert_eq!(started(&[]).as_deref(), Some("less -FRX"));
        assert_eq!(started(&[("PAGER", "more -s")]).as_deref(), Some("more -s"));
        let both = [("PAGER", "more"), ("CALLOSUM_PAGER", "'my pager' -x")];
        assert_eq!(started(&both).as_deref(), Some("my pager -x"));
        assert_eq!(started(&[("PAGER", "")]).as_deref(), Some("less -FRX"));
        assert_eq!(started(&[("PAGER", "cat")]), None);
        assert_eq!(started(&[("PAGER", "less '")]), None);
        assert!(pager(variables(&[("TERM", "dumb"), ("PAGER", "more")])).is_none());
        assert!(pager(variables(&[("PAGER", "more")])).is_none());
    }

    #[test]
    fn less_gets_options_unless_the_person_set_some() {
        let less = |pairs: &[(&str, &str)]| {
            let launch = pager(variables(&[&[("TERM", "xterm")], pairs].concat())).unwrap();
            let found = launch
                .environment
                .into_iter()
                .filter(|(name, _)| name == "LESS");
            let values: Vec<OsString> = found.map(|(_, value)| value).collect();
            values
        };
        assert_eq!(less(&[("PAGER", "less")]), ["FRX"]);
        assert_eq!(less(&[("PAGER", "less"), ("LESS", "S")]), ["S"]);
    }

    #[test]
    fn a_text_is_long_if_its_lines_as_shown_fill_the_screen() {
        let size = Size {
            columns: 10,
            rows: 3,
        };
        assert!(!is_longer("a\nb\n", size));
        assert!(is_longer("a\nb\nc\n", size));
        assert!(is_longer("a\nmore than ten\n", size));
        assert!(!is_longer("a\n\u{1b}[1mten chars!\u{1b}[0m\n", size));
    }

    #[test]
    fn links_are_for_terminals_that_show_them() {
        let shown = |pairs: &[(&str, &str)], is_terminal| {
            let variable = |name: &str| {
                let found = pairs.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| *value)
            };
            links(variable, is_terminal)
        };
        assert!(shown(&[("TERM_PROGRAM", "WezTerm")], true));
        assert!(shown(&[("VTE_VERSION", "7402")], true));
        assert!(!shown(&[("VTE_VERSION", "3411")], true));
        assert!(!shown(&[("TERM", "xterm-256color")], true));
        assert!(!shown(&[("TERM", "xterm-kitty"), ("TMUX", "x")], true));
        assert!(!shown(&[("TERM", "xterm-kitty")], false));
        assert!(shown(&[("FORCE_HYPERLINK", "1")], false));
        assert!(!shown(
            &[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")],
            true
        ));
    }
}
