//! [`Worker`]: the thread that gathers overviews; and [`act`], which runs a command on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;
use std::{io, thread};

use super::{News, Source};
use crate::app::Outcome;
use crate::overview::Overview;

/// The thread that gathers overviews. It ends after this is dropped.
pub(super) struct Worker {
    wake: Sender<()>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(
        source: &Arc<dyn Source>,
        every: Duration,
        news: Sender<News>,
    ) -> io::Result<Self> {
        let (wake, woken) = mpsc::channel();
        let source = Arc::clone(source);
        let builder = thread::Builder::new().name("overview".to_owned());
        builder.spawn(move || {
            loop {
                let gathered = catch_unwind(AssertUnwindSafe(|| source.gather()));
                let overview = gathered.unwrap_or_else(|_| Overview {
                    faults: vec!["internal error: the overview is incomplete".to_owned()],
                    ..Overview::default()
                });
                if news.send(News::Overview(Box::new(overview))).is_err() {
                    return;
                }
                match woken.recv_timeout(every) {
                    Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                // Several wishes for an overview are one.
                while woken.try_recv().is_ok() {}
            }
        })?;
        Ok(Self { wake })
    }

    /// Has an overview gathered now.
    pub(super) fn refresh(&self) {
        // A thread that has ended gathers nothing.
        let _ = self.wake.send(());
    }
}

/// Runs a command, and sends its outcome.
pub(super) fn act(source: &Arc<dyn Source>, argv: Vec<String>, news: &Sender<News>) {
    let (source, sender) = (Arc::clone(source), news.clone());
    let command = argv.clone();
    let builder = thread::Builder::new().name("command".to_owned());
    let started = builder.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| source.act(&command)));
        let result = result.unwrap_or_else(|_| Err("internal error".to_owned()));
        let outcome = Outcome {
            argv: command,
            result,
        };
        // Without a receiver, the dashboard has ended.
        drop(sender.send(News::Outcome(outcome)));
    });
    if let Err(error) = started {
        let result = Err(error.to_string());
        drop(news.send(News::Outcome(Outcome { argv, result })));
    }
}
