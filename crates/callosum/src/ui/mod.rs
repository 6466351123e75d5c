//! Everything that a person sees: data on stdout, messages on stderr, colors by meaning.
//!
//! Start with [`Ui`]. No other module writes to the terminal. `--color`, the stream, `NO_COLOR` and
//! `CLICOLOR_FORCE` decide whether colors are shown; progress is shown only if stderr is a
//! terminal. The commands decide on the content.

mod command_error;
mod document;
mod escaped_json;
mod list;
mod plural;
mod progress;
mod reporter;
mod table;
mod terminal;
mod time;

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use callosum_app::CommandError;
use callosum_redact::terminal_escape::{harmless, visible};

pub(crate) use self::{
    command_error::{print_error, unprinted},
    list::List,
    plural::at_least_one,
    progress::Progress,
    table::Table,
    terminal::{PrintOptions, Terminal},
    time::shown_time,
};

/// Whether something was handed to stdout.
static HAS_SPOKEN: AtomicBool = AtomicBool::new(false);

/// Notices that `--quiet` holds back, for the question that they belong to.
static HELD_BACK: Mutex<String> = Mutex::new(String::new());

/// The most bytes of notices that are held back.
const MOST_HELD_BACK: usize = 64 << 10;

/// Stdout, which something is about to be handed to.
fn stdout() -> io::Stdout {
    HAS_SPOKEN.store(true, Ordering::Relaxed);
    io::stdout()
}

/// The terminal, as the commands may use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ui {
    /// Whether data is printed as JSON.
    pub(crate) json: bool,
    /// Whether progress may be drawn.
    pub(crate) progress: bool,
    /// Whether steps are reported that are normally omitted.
    pub(crate) verbose: bool,
}

#[expect(
    clippy::unused_self,
    reason = "holding a `Ui` is what lets a command speak; not every way of speaking differs by it"
)]
impl Ui {
    /// A terminal on which nothing is drawn, for what is printed before the options are read.
    pub(crate) fn plain(json: bool) -> Self {
        Self {
            json,
            progress: false,
            verbose: false,
        }
    }

    /// Prints data of ours to stdout, without colors if no terminal shows them.
    pub(crate) fn data(self, text: &str) -> Result<(), CommandError> {
        let mut stdout = anstream::AutoStream::auto(stdout()).lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(unprinted)
    }

    /// Returns standard output to draw a full screen on; `None` unless it and standard input are a terminal.
    #[cfg(feature = "tui")]
    pub(crate) fn screen(self) -> Option<io::Stdout> {
        let has_keys = io::stdin().is_terminal();
        (has_keys && terminal::is_terminal()).then(stdout)
    }

    /// Whether standard output shows colors.
    #[cfg(feature = "tui")]
    pub(crate) fn is_colored(self) -> bool {
        terminal::is_colored()
    }

    /// Prints a text that may be long. On a terminal it goes through the pager if it is longer than the screen.
    pub(crate) fn page(self, text: &str) -> Result<(), CommandError> {
        if !self.json && Terminal::get().page(text) {
            HAS_SPOKEN.store(true, Ordering::Relaxed);
            return Ok(());
        }
        self.data(text)
    }

    /// Prints a document of an executor below a heading of ours, like [`read_by_all`](Self::read_by_all). On a terminal it is
    /// colored and wrapped, and its citations may link to the files below `root`.
    pub(crate) fn document(
        self,
        heading: &str,
        text: &str,
        root: &Path,
    ) -> Result<(), CommandError> {
        let look = document::Look {
            is_colored: terminal::is_colored(),
            root: Terminal::get().has_links().then_some(root),
            columns: terminal::columns(),
        };
        let shown = document::render(&visible(text), look);
        self.page(&format!("{heading}{shown}"))
    }

    /// Returns `path:line` as a link to the file below `root`, if the terminal shows links.
    pub(crate) fn linked(self, place: &str, root: &Path) -> String {
        document::linked(place, Terminal::get().has_links().then_some(root))
    }

    /// Prints a line for another program to show: with colors, unless `NO_COLOR` forbids them.
    ///
    /// The caller checks `NO_COLOR`, since stdout is no terminal here.
    pub(crate) fn shown_elsewhere(self, line: &str, is_plain: bool) -> Result<(), CommandError> {
        let choice = if is_plain {
            anstream::ColorChoice::Never
        } else {
            anstream::ColorChoice::AlwaysAnsi
        };
        let mut stdout = anstream::AutoStream::new(stdout().lock(), choice);
        writeln!(stdout, "{line}")
            .and_then(|()| stdout.flush())
            .map_err(unprinted)
    }

    /// Prints a file of someone else to stdout: exactly its bytes, but on a terminal as text without what it would obey.
    pub(crate) fn foreign_bytes(self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut stdout = stdout().lock();
        let shown = if stdout.is_terminal() {
            Cow::Owned(harmless(&String::from_utf8_lossy(bytes)).into_bytes())
        } else {
            Cow::Borrowed(bytes)
        };
        stdout
            .write_all(&shown)
            .and_then(|()| stdout.flush())
            .map_err(unprinted)
    }

    /// Prints foreign text to stdout: exactly these bytes, but on a terminal nothing that it would
    /// obey.
    pub(crate) fn foreign(self, text: &str) -> Result<(), CommandError> {
        let mut stdout = stdout().lock();
        let shown = if stdout.is_terminal() {
            Cow::Owned(harmless(text))
        } else {
            Cow::Borrowed(text)
        };
        stdout
            .write_all(shown.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(unprinted)
    }

    /// Prints foreign text that a person or a model reads: terminal escapes and invisible
    /// characters are made visible, for any destination.
    pub(crate) fn read_by_all(self, text: &str) -> Result<(), CommandError> {
        self.data(&visible(text))
    }

    /// Prints a JSON value to stdout, indented, with a line end. What a terminal would obey in it is escaped.
    ///
    /// What another program reads is printed as it is made, and never held as a whole.
    pub(crate) fn json_data(self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        let mut out = escaped_json::Writer(io::BufWriter::new(stdout().lock()));
        serde_json::to_writer_pretty(&mut out, value).map_err(|error| {
            if error.is_io() {
                unprinted(error.into())
            } else {
                CommandError::internal(error)
            }
        })?;
        writeln!(out).and_then(|()| out.flush()).map_err(unprinted)
    }

    /// Whether something was written to stdout, even if no one read it.
    pub(crate) fn has_spoken(self) -> bool {
        HAS_SPOKEN.load(Ordering::Relaxed)
    }

    /// Says a line on stderr, unless `--quiet` holds it back.
    pub(crate) fn say(self, line: &str) {
        if Terminal::get().is_quiet() {
            let mut held = HELD_BACK.lock().unwrap_or_else(PoisonError::into_inner);
            if held.len() < MOST_HELD_BACK {
                held.push_str(line);
                held.push('\n');
            }
            return;
        }
        // If stderr is closed, no one can read it.
        drop(writeln!(anstream::stderr().lock(), "{line}"));
    }

    /// Asks on stderr, and leaves the cursor behind the question.
    ///
    /// A person needs the earlier messages to answer, so none of them is held back.
    pub(crate) fn ask(self, question: &str) {
        let held = std::mem::take(&mut *HELD_BACK.lock().unwrap_or_else(PoisonError::into_inner));
        let mut stderr = anstream::stderr().lock();
        // If stderr is closed, no one can answer.
        drop(write!(stderr, "{held}{question}").and_then(|()| stderr.flush()));
    }

    /// Says a line on stderr that only `-v` asks for.
    pub(crate) fn detail(self, line: &str) {
        if self.verbose {
            self.say(line);
        }
    }

    /// Warns on stderr, with a hint that can be pasted.
    pub(crate) fn warn(self, what: &str, hint: Option<&str>) {
        use owo_colors::OwoColorize as _;
        self.say(&format!("{}: {what}", "warning".yellow().bold()));
        if let Some(hint) = hint {
            self.hint(hint);
        }
    }

    /// Prints a notice on stderr, with a hint that can be pasted.
    pub(crate) fn note(self, what: &str, hint: Option<&str>) {
        use owo_colors::OwoColorize as _;
        self.say(&format!("{}: {what}", "note".cyan().bold()));
        if let Some(hint) = hint {
            self.hint(hint);
        }
    }

    /// Says what can be done, on stderr.
    pub(crate) fn hint(self, hint: &str) {
        use owo_colors::OwoColorize as _;
        self.say(&format!("{}: {hint}", "hint".cyan().bold()));
    }

    /// Whether a person is looking at stderr.
    pub(crate) fn is_watched(self) -> bool {
        self.progress && !Terminal::get().is_quiet() && io::stderr().is_terminal()
    }
}
