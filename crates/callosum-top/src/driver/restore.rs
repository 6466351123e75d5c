//! [`Restorer`]: gives the terminal back as it was, at the end, after an error, and before a panic's message.

use std::io;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Changes a terminal for the dashboard, and back.
pub(super) trait Screen: Send + Sync + 'static {
    /// Changes it.
    fn enter(&self) -> io::Result<()>;

    /// Changes it back, as far as it can be reached.
    fn leave(&self);
}

/// The terminal of this process: without echo, on its second screen.
pub(super) struct RawTerminal;

impl Screen for RawTerminal {
    fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
    }

    fn leave(&self) {
        // A terminal that is gone needs nothing.
        drop(execute!(
            io::stdout(),
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        ));
        drop(disable_raw_mode());
    }
}

type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Sync + Send>;

/// Restores the terminal when it is dropped or its thread panics, once.
///
/// Until then, panics of other threads print nothing: their message would be in the middle of the screen. The thread that
/// waits for them reports the failure.
pub(super) struct Restorer {
    left: Arc<Left>,
    /// The panic hook of before.
    previous: Arc<Hook>,
}

struct Left {
    screen: Box<dyn Screen>,
    is_left: AtomicBool,
}

impl Left {
    fn leave(&self) {
        if !self.is_left.swap(true, Ordering::SeqCst) {
            self.screen.leave();
        }
    }
}

impl Restorer {
    /// Changes the terminal.
    pub(super) fn enter(screen: impl Screen) -> io::Result<Self> {
        let left = Arc::new(Left {
            screen: Box::new(screen),
            is_left: AtomicBool::new(false),
        });
        let previous: Arc<Hook> = Arc::new(panic::take_hook());
        let restorer = Self { left, previous };
        let (left, previous) = (Arc::clone(&restorer.left), Arc::clone(&restorer.previous));
        let own = thread::current().id();
        panic::set_hook(Box::new(move |panic| {
            if thread::current().id() == own {
                left.leave();
            }
            if left.is_left.load(Ordering::SeqCst) {
                previous(panic);
            }
        }));
        // From here on a failure restores what was changed.
        restorer.left.screen.enter()?;
        Ok(restorer)
    }

    /// Changes the terminal back.
    pub(super) fn leave(self) {
        drop(self);
    }
}

impl Drop for Restorer {
    fn drop(&mut self) {
        self.left.leave();
        // The hook cannot be changed while this thread panics; it passes everything on by then.
        if !thread::panicking() {
            let previous = Arc::clone(&self.previous);
            panic::set_hook(Box::new(move |panic| previous(panic)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<&'static str>>>);

    impl Log {
        fn add(&self, word: &'static str) {
            self.0.lock().unwrap().push(word);
        }

        fn words(&self) -> Vec<&'static str> {
            self.0.lock().unwrap().clone()
        }
    }

    struct Fake {
        log: Log,
        fails: bool,
    }

    impl Screen for Fake {
        fn enter(&self) -> io::Result<()> {
            self.log.add("enter");
            if self.fails {
                return Err(io::Error::other("no terminal"));
            }
            Ok(())
        }

        fn leave(&self) {
            self.log.add("leave");
        }
    }

    /// One test, since the panic hook belongs to the whole process.
    #[test]
    fn the_terminal_is_restored_once_and_before_the_message_of_a_panic() {
        let log = Log::default();
        let hook_log = log.clone();
        let original = panic::take_hook();
        panic::set_hook(Box::new(move |_| hook_log.add("message")));
        let fake = |fails| Fake {
            log: log.clone(),
            fails,
        };

        Restorer::enter(fake(false)).unwrap().leave();
        assert_eq!(log.words(), ["enter", "leave"]);

        drop(Restorer::enter(fake(true)).map(Restorer::leave));
        assert_eq!(log.words()[2..], ["enter", "leave"]);

        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _restorer = Restorer::enter(fake(false)).unwrap();
            panic!("a defect");
        }));
        assert!(panicked.is_err());
        assert_eq!(log.words()[4..], ["enter", "leave", "message"]);

        let restorer = Restorer::enter(fake(false)).unwrap();
        let other = thread::spawn(|| panic!("a defect elsewhere")).join();
        assert!(other.is_err());
        restorer.leave();
        assert_eq!(log.words()[7..], ["enter", "leave"]);
        panic::set_hook(original);
    }
}
