//! [`run`]: the dashboard on a real terminal, until a person quits.
//!
//! This thread reads keys and draws. A second thread gathers overviews, one each second, and a thread for each command runs
//! it, so that no key ever waits for them.

mod keys;
mod restore;
mod worker;

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};

use self::restore::{RawTerminal, Restorer};
use self::worker::Worker;
use crate::app::{Action, App, Outcome};
use crate::draw::{Palette, draw};
use crate::overview::Overview;

/// Longest time in which a new overview or a signal waits for the screen.
const TICK: Duration = Duration::from_millis(50);

/// Gathers overviews and runs commands, on threads of the driver.
pub trait Source: Send + Sync + 'static {
    /// Gathers an overview. Called by one thread at a time.
    fn gather(&self) -> Overview;

    /// Runs the program with these arguments, and returns what it printed, or why it failed.
    fn act(&self, argv: &[String]) -> Result<String, String>;

    /// Asks the commands that run to end. No command is started afterward.
    fn cancel(&self);
}

/// The next step of the dashboard after a wait for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Something may have been typed, or enough time has passed.
    Over,
    /// The dashboard is to end: it was asked to, or the terminal is gone.
    Stop,
}

/// Choices of the program.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The style of the text.
    pub palette: Palette,
    /// Time between two overviews.
    pub every: Duration,
}

/// Reason that the dashboard ended without a person's wish.
#[derive(Debug)]
pub struct TopError(std::io::Error);

impl std::fmt::Display for TopError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot draw on the terminal: {}", self.0)
    }
}

impl std::error::Error for TopError {}

impl From<std::io::Error> for TopError {
    fn from(error: std::io::Error) -> Self {
        Self(error)
    }
}

/// News for the thread that draws.
enum News {
    Overview(Box<Overview>),
    Outcome(Outcome),
}

/// Draws the dashboard on `output`, which is the terminal that the keys come from, until a person quits or `wait` says so.
///
/// `wait` returns once something is typed, and after that time at the latest. It must notice that the terminal is gone: the
/// library that reads keys never returns from one that is.
///
/// The terminal is restored at the end, also after an error or a panic of this thread.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn run<W: Write + Send>(
    output: W,
    source: Arc<dyn Source>,
    options: Options,
    wait: &dyn Fn(Duration) -> std::io::Result<Wait>,
) -> Result<(), TopError> {
    let (news, received) = mpsc::channel();
    let restorer = Restorer::enter(RawTerminal)?;
    let backend = CrosstermBackend::new(output);
    let mut terminal = Terminal::new(backend)?;
    terminal.clear()?;
    let worker = Worker::start(&source, options.every, news.clone())?;
    let done = Loop {
        terminal,
        app: App::default(),
        source: &source,
        worker,
        news,
        received,
        palette: options.palette,
    }
    .run(wait);
    source.cancel();
    restorer.leave();
    done
}

struct Loop<'s, W: Write> {
    terminal: Terminal<CrosstermBackend<W>>,
    app: App,
    source: &'s Arc<dyn Source>,
    worker: Worker,
    news: Sender<News>,
    received: Receiver<News>,
    palette: Palette,
}

impl<W: Write> Loop<'_, W> {
    fn run(mut self, wait: &dyn Fn(Duration) -> std::io::Result<Wait>) -> Result<(), TopError> {
        self.app.resize(self.terminal.size()?.height);
        let mut is_changed = true;
        loop {
            if is_changed {
                let (app, palette) = (&self.app, self.palette);
                self.terminal.draw(|frame| draw(frame, app, palette))?;
            }
            is_changed = false;
            // Every key that waits is taken before the next drawing, as after a paste.
            if wait(TICK)? == Wait::Stop {
                return Ok(());
            }
            while event::poll(Duration::ZERO)? {
                is_changed = true;
                if self
                    .take(event::read()?)
                    .is_some_and(|action| self.perform(action))
                {
                    return Ok(());
                }
            }
            while let Ok(news) = self.received.try_recv() {
                is_changed = true;
                match news {
                    News::Overview(overview) => self.app.update(*overview),
                    News::Outcome(outcome) => {
                        self.app.finish(&outcome);
                        self.worker.refresh();
                    }
                }
            }
        }
    }

    fn take(&mut self, event: Event) -> Option<Action> {
        match event {
            Event::Key(key) => keys::key(key).and_then(|key| self.app.press(key)),
            Event::Paste(text) => {
                self.app.paste(&text);
                None
            }
            Event::Resize(_, height) => {
                self.app.resize(height);
                None
            }
            _ => None,
        }
    }

    /// Performs an action, and returns whether the dashboard is to end.
    fn perform(&mut self, action: Action) -> bool {
        match action {
            Action::Quit => return true,
            Action::Refresh => self.worker.refresh(),
            Action::Run(argv) => worker::act(self.source, argv, &self.news),
        }
        false
    }
}
