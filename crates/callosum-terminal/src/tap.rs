//! [`Tap`]: what sees a copy of the program's output, and the queue that keeps it from slowing the program.
//!
//! The queue has two batches. Pumps fill one while the tap's thread reads the other, and the thread holds the lock only
//! to swap them, so that a pump never waits for the tap.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use crate::{exit::TapEnd, quiet_panic};

/// Most bytes that wait for the tap. What comes above that, the tap does not see.
pub const TAP_QUEUE_BYTES: usize = 4 * 1024 * 1024;

/// Longest time that a run waits for its tap after the program's end.
pub const TAP_GRACE: Duration = Duration::from_secs(2);

/// Difference of the tap's `nice` value from the program's: the tap gets less of a busy processor.
#[cfg(target_os = "linux")]
const TAP_NICENESS: i32 = 5;

/// One of the program's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Both, as a terminal or `2>&1` merges them.
    Merged,
}

/// A reader of the program's output.
///
/// It runs on its own thread. However slow it is, the program does not notice; a panic ends the thread and nothing else.
pub trait Tap: Send {
    /// Sees bytes that the caller already has. They break off anywhere, also within a line or a character.
    fn output(&mut self, stream: Stream, bytes: &[u8]);

    /// Learns that the next `bytes` of a stream were not kept for it. The next line may lack its beginning.
    fn skip(&mut self, stream: Stream, bytes: u64) {
        let _ = (stream, bytes);
    }
}

/// A piece of a batch, with its length.
#[derive(Clone, Copy, Debug)]
struct Piece {
    stream: Stream,
    length: usize,
}

#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    /// Bytes that came after the batch was full, by stream. From the first of these on, the batch takes nothing more, so
    /// that the order stays true.
    skipped: Vec<(Stream, u64)>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.skipped.is_empty()
    }

    /// Adds bytes, or counts them as skipped. Returns how many it skipped.
    fn add(&mut self, stream: Stream, bytes: &[u8]) -> u64 {
        let used = self.bytes.len() + self.pieces.len() * size_of::<Piece>();
        let has_room = used + bytes.len() + size_of::<Piece>() <= TAP_QUEUE_BYTES;
        if has_room && self.skipped.is_empty() {
            self.bytes.extend_from_slice(bytes);
            match self.pieces.last_mut() {
                Some(last) if last.stream == stream => last.length += bytes.len(),
                _ => self.pieces.push(Piece {
                    stream,
                    length: bytes.len(),
                }),
            }
            return 0;
        }
        let count = bytes.len() as u64;
        match self
            .skipped
            .iter_mut()
            .find(|(skipped, _)| *skipped == stream)
        {
            Some((_, sum)) => *sum += count,
            None => self.skipped.push((stream, count)),
        }
        count
    }

    fn show_to(&self, tap: &mut impl Tap) {
        let mut rest = self.bytes.as_slice();
        for piece in &self.pieces {
            let (bytes, later) = rest.split_at(piece.length);
            tap.output(piece.stream, bytes);
            rest = later;
        }
        for (stream, bytes) in &self.skipped {
            tap.skip(*stream, *bytes);
        }
    }

    /// Empties it and keeps its memory.
    fn clear(&mut self) {
        self.bytes.clear();
        self.pieces.clear();
        self.skipped.clear();
    }
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    skipped_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// The thread waits; only then is waking it worth a system call.
    is_waiting: bool,
    is_closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Swaps the filled batch for an empty one; waits for it. Returns false at the end of all output.
    fn swap(&self, batch: &mut Batch) -> bool {
        let mut state = self.lock();
        while state.batch.is_empty() {
            if state.is_closed {
                return false;
            }
            state.is_waiting = true;
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.is_waiting = false;
        }
        std::mem::swap(&mut state.batch, batch);
        true
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
    }

    /// Drops what waits for a tap that is gone.
    fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let unseen = std::mem::take(&mut state.batch);
        self.skipped_bytes
            .fetch_add(unseen.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// The pumps' side of the queue.
#[derive(Clone, Debug)]
pub(crate) struct TapFeed(Arc<Queue>);

impl TapFeed {
    /// Queues a copy of bytes for the tap, or counts them if its queue is full; does not wait.
    pub(crate) fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.0.lock();
        let skipped = if state.is_closed {
            bytes.len() as u64
        } else {
            state.batch.add(stream, bytes)
        };
        let is_waiting = std::mem::take(&mut state.is_waiting);
        drop(state);
        if is_waiting {
            self.0.filled.notify_one();
        }
        if skipped > 0 {
            self.0.skipped_bytes.fetch_add(skipped, Ordering::Relaxed);
        }
    }
}

/// A tap at work on its thread.
#[derive(Debug)]
pub(crate) struct TapThread<T> {
    queue: Arc<Queue>,
    result: Receiver<Result<T, String>>,
}

impl<T: Tap + 'static> TapThread<T> {
    pub(crate) fn start(mut tap: T) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let (sender, result) = channel();
        let source = Arc::clone(&queue);
        thread::Builder::new()
            .name("tap".to_owned())
            .spawn(move || {
                lower_priority();
                let outcome = quiet_panic::catch(|| {
                    let mut batch = Batch::default();
                    while source.swap(&mut batch) {
                        batch.show_to(&mut tap);
                        batch.clear();
                    }
                    tap
                });
                if outcome.is_err() {
                    source.abandon();
                }
                // Fails only if the run no longer waits.
                drop(sender.send(outcome));
            })?;
        Ok(Self { queue, result })
    }

    pub(crate) fn feed(&self) -> TapFeed {
        TapFeed(Arc::clone(&self.queue))
    }

    /// Ends the output and waits for the tap, [`TAP_GRACE`] at the longest. Returns it and the number of skipped bytes.
    pub(crate) fn finish(self) -> (TapEnd<T>, u64) {
        self.queue.close();
        let end = match self.result.recv_timeout(TAP_GRACE) {
            Ok(Ok(tap)) => TapEnd::Finished(tap),
            Ok(Err(message)) => TapEnd::Panicked(message),
            Err(RecvTimeoutError::Timeout) => TapEnd::Unfinished,
            Err(RecvTimeoutError::Disconnected) => TapEnd::Panicked("its thread ended".to_owned()),
        };
        (end, self.queue.skipped_bytes.load(Ordering::Relaxed))
    }
}

/// Lets the program and the pumps go first. Elsewhere than on Linux the call would slow the whole process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        if let Ok(now) = getpriority_process(None) {
            // A refusal costs only speed.
            let _ = setpriority_process(None, (now + TAP_NICENESS).min(19));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Record {
        seen: Vec<(Stream, Vec<u8>)>,
        skipped: Vec<(Stream, u64)>,
    }

    impl Tap for Record {
        fn output(&mut self, stream: Stream, bytes: &[u8]) {
            self.seen.push((stream, bytes.to_vec()));
        }

        fn skip(&mut self, stream: Stream, bytes: u64) {
            self.skipped.push((stream, bytes));
        }
    }

    #[test]
    fn a_batch_keeps_the_order_of_streams_and_joins_neighbors() {
        let mut batch = Batch::default();
        for (stream, bytes) in [
            (Stream::Stdout, "a"),
            (Stream::Stdout, "b"),
            (Stream::Stderr, "c"),
            (Stream::Stdout, "d"),
        ] {
            assert_eq!(batch.add(stream, bytes.as_bytes()), 0);
        }
        let mut record = Record::default();
        batch.show_to(&mut record);
        let expected = [
            (Stream::Stdout, b"ab".to_vec()),
            (Stream::Stderr, b"c".to_vec()),
            (Stream::Stdout, b"d".to_vec()),
        ];
        assert_eq!(record.seen, expected);
    }

    /// CAKE-WATCH-1: a full queue skips for the reader, counts what it skips, and never reorders.
    #[test]
    fn a_full_batch_takes_nothing_more_and_counts() {
        let mut batch = Batch::default();
        let large = vec![b'x'; TAP_QUEUE_BYTES - 2 * size_of::<Piece>()];
        assert_eq!(batch.add(Stream::Stdout, &large), 0);
        assert_eq!(batch.add(Stream::Stdout, &[b'y'; 100]), 100);
        assert_eq!(
            batch.add(Stream::Stderr, b"z"),
            1,
            "fits, but would overtake"
        );
        assert_eq!(batch.add(Stream::Stdout, &[b'y'; 5]), 5);
        let mut record = Record::default();
        batch.show_to(&mut record);
        assert_eq!(record.seen.len(), 1);
        assert_eq!(record.skipped, [(Stream::Stdout, 105), (Stream::Stderr, 1)]);
    }

    #[test]
    fn many_tiny_pieces_stay_within_the_bound() {
        let mut batch = Batch::default();
        let mut skipped = 0;
        for _ in 0..TAP_QUEUE_BYTES / size_of::<Piece>() {
            skipped += batch.add(Stream::Stdout, b"o");
            skipped += batch.add(Stream::Stderr, b"e");
        }
        let used = batch.bytes.len() + batch.pieces.len() * size_of::<Piece>();
        assert!(used <= TAP_QUEUE_BYTES, "{used}");
        assert!(skipped > 0);
    }

    #[test]
    fn a_tap_sees_all_and_comes_back() {
        let thread = TapThread::start(Record::default()).unwrap();
        let feed = thread.feed();
        for _ in 0..1000 {
            feed.push(Stream::Merged, b"line\n");
        }
        let (end, skipped) = thread.finish();
        let TapEnd::Finished(record) = end else {
            panic!("{skipped}");
        };
        let bytes: Vec<u8> = record
            .seen
            .into_iter()
            .flat_map(|(_, bytes)| bytes)
            .collect();
        assert_eq!(bytes, b"line\n".repeat(1000));
        assert_eq!(skipped, 0);
    }

    #[test]
    fn what_follows_a_panic_of_the_tap_counts_as_skipped() {
        struct Broken;
        impl Tap for Broken {
            fn output(&mut self, _: Stream, _: &[u8]) {
                panic!("broken tap");
            }
        }
        let thread = TapThread::start(Broken).unwrap();
        let feed = thread.feed();
        feed.push(Stream::Stdout, b"seen");
        while !thread.queue.lock().is_closed {
            thread::yield_now();
        }
        feed.push(Stream::Stdout, b"unseen");
        let (end, skipped) = thread.finish();
        assert!(matches!(end, TapEnd::Panicked(message) if message == "broken tap"));
        assert_eq!(skipped, 6);
    }
}
