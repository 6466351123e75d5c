//! The dashboard on this terminal: gathers overviews in this process, and runs each command as a process of this program.

use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callosum_app::overview::Gatherer;
use callosum_app::report::Silent;
use callosum_app::{CommandError, Exit, context};
use callosum_host::process::{self, Cancel, Ending, Launch, Limits};
use callosum_host::terminal::{Keys, wait_for_keys};
use callosum_top::{Options, Overview, Palette, Source, Wait};

use super::plain_values::overview;
use crate::cli::context::Context;

/// Time between two overviews.
const EVERY: Duration = Duration::from_secs(1);

/// Most bytes of a command's output.
const MOST_OUTPUT: usize = 16 << 20;

/// Bytes at the end of a command's standard error that are kept.
const MOST_ERROR: usize = 64 << 10;

/// Letters of a command's output that are passed on.
const MOST_SHOWN: usize = 2_000;

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let Some(screen) = context.ui.screen() else {
        let what = "cannot draw without a terminal";
        return Err(CommandError::new(Exit::Usage, what).hint("callosum top --json"));
    };
    let options = Options {
        palette: Palette::new(context.ui.is_colored()),
        every: EVERY,
    };
    let source = Arc::new(ThisProgram::new(context)?);
    let keys = std::io::stdin();
    let wait = |most| {
        let is_over = wait_for_keys(keys.as_fd(), most)? == Keys::Gone;
        Ok(if is_over || context.cancel.is_cancelled() {
            Wait::Stop
        } else {
            Wait::Over
        })
    };
    callosum_top::run(screen, source, options, &wait)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    if context.cancel.is_cancelled() {
        return Err(CommandError::told(Exit::Interrupted));
    }
    Ok(())
}

/// Gathers overviews of one project, and runs commands in its folder.
struct ThisProgram {
    gathering: Mutex<(context::Context, Gatherer)>,
    program: PathBuf,
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
    /// Canceled when the dashboard ends.
    cancel: Cancel,
}

impl ThisProgram {
    fn new(context: &Context) -> Result<Self, CommandError> {
        let failed = |error: std::io::Error| {
            CommandError::because(Exit::Environment, "cannot run commands", &error)
        };
        let cancel = Cancel::new().map_err(failed)?;
        // Warnings would be printed into the screen.
        let own = context::Context::gather(
            context.environment.clone(),
            Some(&context.folder),
            Arc::new(Silent),
            cancel.clone(),
        )?;
        let variables = context.environment.iter();
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self {
            gathering: Mutex::new((own, Gatherer::default())),
            program: std::env::current_exe().map_err(failed)?,
            folder: context.folder.clone(),
            environment: variables.collect(),
            cancel,
        })
    }
}

impl Source for ThisProgram {
    fn gather(&self) -> Overview {
        let gathering = self.gathering.lock();
        let mut gathering = gathering.unwrap_or_else(PoisonError::into_inner);
        let (context, gatherer) = &mut *gathering;
        match gatherer.gather(context) {
            Ok(output) => overview(output),
            Err(error) => Overview {
                faults: vec![error.one_line()],
                ..Overview::default()
            },
        }
    }

    fn act(&self, argv: &[String]) -> Result<String, String> {
        let options = ["--color", "never", "--no-progress"].map(OsString::from);
        let launch = Launch {
            program: self.program.clone(),
            arguments: options
                .into_iter()
                .chain(argv.iter().map(OsString::from))
                .collect(),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: None,
                output_bytes: MOST_OUTPUT,
                error_bytes: MOST_ERROR,
            },
        };
        let run = process::run(&launch, &self.cancel, &mut |_, _| {});
        let run = run.map_err(|error| error.to_string())?;
        // People read standard error: `guard allow` prints the id of a permission to standard output.
        let text = if run.error.is_empty() {
            &run.output
        } else {
            &run.error
        };
        let text = String::from_utf8_lossy(text);
        let text: String = text.trim().chars().take(MOST_SHOWN).collect();
        // A plan that waits for the next approval has done what was asked.
        let is_waiting = run.ending == Ending::Exited(Exit::Waiting as i32);
        match run.ending {
            Ending::Exited(0) => Ok(text),
            _ if is_waiting => Ok(text),
            Ending::Exited(_) if !text.is_empty() => Err(text),
            ending => Err(format!("ended as {ending:?}")),
        }
    }

    fn cancel(&self) {
        self.cancel.cancel();
    }
}
