//! [`receive`]: events of other machines, appended to this machine's log and then acknowledged.
//!
//! A message is acknowledged after its events are synced in the log, so that a crash in between only brings it again.

use std::{collections::BTreeMap, time::Duration};

use callosum_mesh::{Arrival, ForeignEvents, Mesh};

use super::{
    Delivery, FleetError, FleetStatus, Membership, Server,
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
    let now = mesh.journal().now();
    let mut known = if deliveries.is_empty() {
        BTreeMap::new()
    } else {
        mesh.received()?
    };
    let mut incoming = Incoming::default();
    let mut taken = Vec::new();
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
        let Envelope {
            origin,
            names,
            previous,
            events,
            ..
        } = envelope;
        // Only if something seems to be missing is the server asked whether it still has that.
        let last = known.get(&origin).copied().unwrap_or(0);
        let is_oldest =
            previous > last && server.oldest(&delivery.subject)? == Some(delivery.sequence);
        if let Some(event) = events.last() {
            known.insert(origin.clone(), event.seq.max(last));
        }
        let events = events.into_iter();
        let events = events.map(|event| (event.seq, filter.incoming(event, &names, now)));
        let foreign = ForeignEvents {
            origin,
            previous,
            is_oldest,
            events: events.collect(),
        };
        taken.push((delivery.sequence, foreign));
    }
    let (sequences, foreign): (Vec<u64>, Vec<ForeignEvents>) = taken.into_iter().unzip();
    let is_late: Vec<bool> = foreign.iter().map(|foreign| foreign.is_oldest).collect();
    let arrivals = if foreign.is_empty() {
        Vec::new()
    } else {
        mesh.receive(foreign)?
    };
    for ((sequence, arrival), is_late) in sequences.into_iter().zip(arrivals).zip(is_late) {
        match arrival {
            Arrival::Appended(count) => {
                incoming.events += count as u64;
                status.gaps += u64::from(is_late);
                done.push(sequence);
            }
            Arrival::Known => done.push(sequence),
            // It comes again after those before it.
            Arrival::Gap { .. } => server.retry(sequence)?,
        }
    }
    incoming.pulled = done.len();
    server.acknowledge(&done)?;
    Ok(incoming)
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
