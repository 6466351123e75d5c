//! [`relay`]: runs work on a runtime of its own, and passes its events on as they come.

use std::pin::pin;

use tokio::{
    runtime, select,
    sync::mpsc::{UnboundedSender, unbounded_channel},
};

use super::event::{Event, Tell};
use crate::output_format::ErrorText;

/// Does one job on this thread and reports its events; `tell` returns whether the receiver still
/// listens.
///
/// Returns once the work is done, no one listens any more, or the last awaited event was reported.
pub(crate) fn relay<W>(
    tell: &mut Tell<'_>,
    is_last: impl Fn(&Event) -> bool,
    work: impl FnOnce(UnboundedSender<Event>) -> W,
) -> Result<(), ErrorText>
where
    W: Future<Output = Result<(), ErrorText>>,
{
    let runtime = runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| ErrorText::of_ours(&error.to_string()))?;
    runtime.block_on(async {
        let (sender, mut events) = unbounded_channel();
        let mut work = pin!(work(sender));
        loop {
            select! {
                biased;
                Some(event) = events.recv() => {
                    let is_last = is_last(&event);
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

/// Sends an event to the relaying side.
pub(crate) fn say(tell: &UnboundedSender<Event>, event: Event) {
    // No one listens any more once the job is done.
    drop(tell.send(event));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ERR-3: an event after an answer is received if the answer is not the last awaited event.
    #[test]
    fn events_after_an_answer_are_received_if_awaited() {
        let events = |is_last: fn(&Event) -> bool| {
            let mut all = Vec::new();
            let mut tell = |event: Event| {
                all.push(event);
                true
            };
            let work = async |tell: UnboundedSender<Event>| {
                say(&tell, Event::Done);
                tokio::task::yield_now().await;
                say(&tell, Event::Unended);
                Ok(())
            };
            relay(&mut tell, is_last, work).unwrap();
            all
        };
        assert_eq!(events(|_| false), [Event::Done, Event::Unended]);
        let is_done = |event: &Event| matches!(event, Event::Done);
        assert_eq!(events(is_done), [Event::Done]);
    }
}
