//! [`WriteDelay`]: text in the file that was applied, but stays in place for a moment.
//!
//! Editors look at what they have written, and treat a file that another program has replaced in
//! between as a failure. If several authors write one after the other, nothing stays in place: each
//! is better off with a file of its own.

use std::time::{Duration, Instant};

use super::store::hash;

/// So long after it was written nothing else is shown in its place.
const REST: Duration = Duration::from_millis(500);

/// An author who writes this soon after another is not alone.
const QUIET: Duration = Duration::from_secs(1);

/// Text in the file. Empty at first.
#[derive(Debug, Default)]
pub struct WriteDelay {
    written: Option<Written>,
    /// Time of the last write by anyone.
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

    /// Records that someone has written elsewhere, or before.
    pub(super) fn heard(&mut self) {
        self.last = Some(Instant::now());
    }

    /// Records that the file has nothing but the projection.
    pub(super) fn end(&mut self) {
        self.written = None;
    }
}
