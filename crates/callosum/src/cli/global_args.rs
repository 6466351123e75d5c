//! [`GlobalArgs`]: the options that every command takes.

use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, ValueEnum};

/// The heading of these options in help.
pub(super) const GLOBAL_OPTIONS: &str = "Global options";

/// The options of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct GlobalArgs {
    /// Work on the repository in DIR instead of the current folder
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) directory: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) json: bool,
    /// Use color: auto (default), always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        hide_possible_values = true,
        global = true,
        help_heading = GLOBAL_OPTIONS
    )]
    pub(super) color: Option<ColorArg>,
    /// Print only results and errors
    #[arg(short, long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) quiet: bool,
    /// Print long results without a pager
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) no_pager: bool,
    /// Hide the progress bar
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) no_progress: bool,
    /// Print more detail
    #[arg(short, long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(super) verbose: bool,
}

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    Auto,
    Always,
    Never,
}

impl ColorArg {
    /// Returns the choice as the printer takes it.
    pub(super) fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}
