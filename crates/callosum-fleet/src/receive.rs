//! [`receive`]: events of other machines, appended to this machine's log and then acknowledged.
//!
//! A message is acknowledged after its events are synced in the log, so that a crash in between only brings it again.

use std::{collections::BTreeMap, time::Duration};

use callosum_mesh::{Arrival, ForeignEvents, Mesh};

use super::{
    Delivery, FleetError, FleetStatus, Membership, Server, StoredMessage,
    crossing::Filter,
    envelope::{Envelope, VERSION, Version},
    membership::subject,
};

/// Messages that are taken at once.
const MOST: usize = 16;

/// Outcome of a pull.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Incoming {
    /// Events that were appended.
    pub(crate) events: u64,
    /// Messages that were taken and are done.
    pub(crate) pulled: usize,
}

pub(crate) fn receive(
    mesh: &mut Mesh,
    server: &mut dyn Server,
    membership: &Membership,
    filter: &mut Filter<'_>,
    status: &mut FleetStatus,
    wait: Duration,
) -> Result<Incoming, FleetError> {
    let deliveries = server.pull(MOST, wait)?;
    let mut known = if deliveries.is_empty() {
        BTreeMap::new()
    } else {
        mesh.received()?
    };
    let mut incoming = Incoming::default();
    let mut taken = Vec::new();
    // The place in the stream of each of these that was delivered.
    let mut places: Vec<Option<u64>> = Vec::new();
    let mut done = Vec::new();
    for delivery in deliveries {
        let Some(envelope) = read(&delivery, membership)? else {
            status.refused_messages += 1;
            done.push(delivery.sequence);
            continue;
        };
        if envelope.origin == membership.origin {
            done.push(delivery.sequence);
            continue;
        }
        let last = known.entry(envelope.origin.clone()).or_default();
        let mut envelopes = Vec::new();
        if envelope.previous > *last {
            envelopes = missing(server, &delivery, membership, *last)?;
        }
        let is_whole = envelopes.len() < MOST;
        if is_whole {
            envelopes.push(envelope);
        } else {
            // It comes again after the others that are before it.
            server.retry(delivery.sequence)?;
        }
        for envelope in envelopes {
            // Events that the server has no longer, and those that were no messages of that machine, do not come any more.
            let is_late = envelope.previous > *last;
            *last = envelope.last().max(*last);
            taken.push(foreign(envelope, filter, mesh, is_late));
        }
        // Those before it need no acknowledgement of their own.
        places.resize(taken.len(), None);
        if let Some(place) = places.last_mut().filter(|_| is_whole) {
            *place = Some(delivery.sequence);
        }
    }
    let is_late: Vec<bool> = taken.iter().map(|foreign| foreign.is_oldest).collect();
    let arrivals = if taken.is_empty() {
        Vec::new()
    } else {
        mesh.receive(taken)?
    };
    for ((sequence, arrival), is_late) in places.into_iter().zip(arrivals).zip(is_late) {
        match arrival {
            Arrival::Appended { events, refused } => {
                incoming.events += events as u64;
                status.refused_events += refused as u64;
                status.gaps += u64::from(is_late);
                done.extend(sequence);
            }
            Arrival::Known => done.extend(sequence),
            // Another process of this machine takes the same.
            Arrival::Gap { .. } => {
                if let Some(sequence) = sequence {
                    server.retry(sequence)?;
                }
            }
        }
    }
    incoming.pulled = done.len();
    if !done.is_empty() {
        server.acknowledge(&done)?;
    }
    Ok(incoming)
}

/// Returns the events of a message as they are appended.
fn foreign(
    envelope: Envelope,
    filter: &mut Filter<'_>,
    mesh: &Mesh,
    is_oldest: bool,
) -> ForeignEvents {
    let Envelope {
        origin,
        names,
        previous,
        events,
        ..
    } = envelope;
    let now = mesh.journal().now();
    let events = events.into_iter();
    let events = events.map(|event| (event.seq, filter.incoming(event, &names, now)));
    ForeignEvents {
        origin,
        previous,
        is_oldest,
        events: events.collect(),
    }
}

/// Reads from the stream itself what is missing before a message: some of its log's messages after the event `last`, in
/// their order. They may wait to be delivered again, or were acknowledged by a log that has lost its end since.
///
/// Nothing else is waited for: a message that does not come would hold up those of all machines, since the server delivers
/// only so many that are not acknowledged.
fn missing(
    server: &mut dyn Server,
    delivery: &Delivery,
    membership: &Membership,
    last: u64,
) -> Result<Vec<Envelope>, FleetError> {
    let subject = &delivery.subject;
    // The first message from a place on; `None` if there is none before the one that was delivered.
    let read_from = |server: &mut dyn Server, from: u64| {
        let mut from = from;
        for _ in 0..MOST {
            let found = server.next(subject, from)?;
            let found = found.filter(|found| found.sequence < delivery.sequence);
            let Some(StoredMessage { sequence, body }) = found else {
                break;
            };
            let message = Delivery {
                sequence,
                subject: subject.clone(),
                body,
            };
            if let Some(envelope) = read(&message, membership)? {
                return Ok(Some((sequence, envelope)));
            }
            from = sequence + 1;
        }
        Ok::<_, FleetError>(None)
    };
    // The first place from which on every message is after the event.
    let (mut begin, mut end) = (1, delivery.sequence);
    while begin < end {
        let middle = begin + (end - begin) / 2;
        match read_from(server, middle)? {
            Some((sequence, envelope)) if envelope.last() <= last => begin = sequence + 1,
            _ => end = middle,
        }
    }
    let mut missing = Vec::new();
    while missing.len() < MOST {
        let Some((sequence, envelope)) = read_from(server, begin)? else {
            break;
        };
        missing.push(envelope);
        begin = sequence + 1;
    }
    Ok(missing)
}

/// Reads a message; `None` if it is not what its subject says. A machine writes to its own subject alone.
fn read(delivery: &Delivery, membership: &Membership) -> Result<Option<Envelope>, FleetError> {
    let body = &delivery.body;
    if let Ok(Version { v }) = serde_json::from_slice(body)
        && v > VERSION
    {
        return Err(FleetError::Newer {
            found: v,
            known: VERSION,
        });
    }
    let envelope: Option<Envelope> = serde_json::from_slice(body).ok();
    Ok(envelope.filter(|envelope| {
        let Envelope { origin, names, .. } = envelope;
        let is_growing = envelope
            .events
            .is_sorted_by(|one, other| one.seq < other.seq);
        let is_after = envelope
            .events
            .first()
            .is_some_and(|event| event.seq > envelope.previous);
        let is_its_own = subject(&membership.workspace, names, origin) == delivery.subject;
        is_growing && is_after && names.is_valid() && is_its_own
    }))
}
