//! [`WriteDelay`]: what somebody wrote into the file and is left to stand there for a moment, though it is taken over.
//!
//! Editors look at what they have written: a file that another has written anew meanwhile is a failure to them. Where several write
//! one after the other nothing is left to stand: each is better off with a file of its own.

use std::time::{Duration, Instant};

use super::store::hash;

/// So long after it was written nothing else is shown in its place.
const REST: Duration = Duration::from_millis(500);

/// Whoever writes so soon after another is not alone.
const QUIET: Duration = Duration::from_secs(1);

/// What stands there; nothing to begin with.
#[derive(Debug, Default)]
pub struct WriteDelay {
    written: Option<Written>,
    /// When anybody last wrote.
    last: Option<Instant>,
}

#[derive(Debug)]
struct Written {
    hash: String,
    at: Instant,
}

impl WriteDelay {
    /// Whether something has stood there for long enough.
    pub fn is_over(&self) -> bool {
        let written = self.written.as_ref();
        written.is_some_and(|written| written.at.elapsed() >= REST)
    }

    /// Whether these bytes stand there and were taken over.
    pub(super) fn knows(&self, bytes: &[u8]) -> bool {
        let written = self.written.as_ref();
        written.is_some_and(|written| written.hash == hash(bytes))
    }

    /// Whether these bytes, which were taken over, are left to stand.
    pub(super) fn leaves(&mut self, bytes: &[u8]) -> bool {
        if self.knows(bytes) {
            return !self.is_over();
        }
        let is_alone = self.last.is_none_or(|last| last.elapsed() >= QUIET);
        self.heard();
        self.written = is_alone.then(|| Written {
            hash: hash(bytes),
            at: Instant::now(),
        });
        is_alone
    }

    /// Somebody has written elsewhere, or before.
    pub(super) fn heard(&mut self) {
        self.last = Some(Instant::now());
    }

    /// Nothing stands there but what is shown.
    pub(super) fn end(&mut self) {
        self.written = None;
    }
}
