//! [`relay`]: has work done on a runtime of its own, and its events told as they come.

use std::pin::pin;

use tokio::{
    runtime, select,
    sync::mpsc::{UnboundedSender, unbounded_channel},
};

use super::event::{Event, Tell};
use crate::dialect::Complaint;

/// Does one job on this thread, and tells what happens; `tell` says whether anybody still listens.
///
/// Returns once the work is done, nobody listens any more, or what was told is the last there is:
/// an answer that is whole, or too long.
pub(crate) fn relay<W>(
    tell: &mut Tell<'_>,
    work: impl FnOnce(UnboundedSender<Event>) -> W,
) -> Result<(), Complaint>
where
    W: Future<Output = Result<(), Complaint>>,
{
    let runtime = runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Complaint::of_ours(&error.to_string()))?;
    runtime.block_on(async {
        let (sender, mut events) = unbounded_channel();
        let mut work = pin!(work(sender));
        loop {
            select! {
                biased;
                Some(event) = events.recv() => {
                    let is_last = matches!(event, Event::TooMuch | Event::Done);
                    if !tell(event) || is_last {
                        return Ok(());
                    }
                }
                done = &mut work => {
                    while let Ok(event) = events.try_recv() {
                        tell(event);
                    }
                    return done;
                }
            }
        }
    })
}

/// Tells something to whoever relays it.
pub(crate) fn say(tell: &UnboundedSender<Event>, event: Event) {
    // Nobody listens any more once the job is done.
    drop(tell.send(event));
}
