//! What is measured: acknowledgements, deliveries, and how many events a second are kept.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::broker::{Broker, Durability, Fault, Publisher, Subscriber};
use crate::say;

/// The pause between two events that are delivered one at a time.
const PAUSE: Duration = Duration::from_millis(1);

/// How many hand in events at once where the rate is measured.
const PUBLISHERS: u64 = 16;

/// How many events each of them hands in at a time.
const BATCH: u64 = 64;

/// For how long.
const LONG: Duration = Duration::from_secs(3);

/// From handing in one event to its acknowledgement.
pub(super) fn acknowledgements(
    broker: &dyn Broker,
    durability: Durability,
    events: u64,
) -> Result<(), Fault> {
    let Some(mut publisher) = broker.publisher(durability)? else {
        return Ok(());
    };
    let mut taken = Vec::new();
    for number in 0..events {
        let begun = Instant::now();
        publisher.publish(number..number + 1)?;
        taken.push(begun.elapsed());
    }
    let what = format!("{}, ack, {}", broker.name(), durability.as_str());
    say(&format!("{what:<44} {}", spread(taken)));
    Ok(())
}

/// From handing in one event to when the last of so many listeners has it.
pub(super) fn delivery(
    broker: &dyn Broker,
    durability: Durability,
    listeners: usize,
    events: u64,
) -> Result<(), Fault> {
    let Some(mut publisher) = broker.publisher(durability)? else {
        return Ok(());
    };
    let mut subscribers = Vec::new();
    for _ in 0..listeners {
        subscribers.push(broker.subscriber(durability)?);
    }
    let base = Instant::now();
    let (sent, heard) = thread::scope(|scope| {
        let hearing: Vec<_> = subscribers
            .iter_mut()
            .map(|subscriber| scope.spawn(move || hear(subscriber.as_mut(), base, events)))
            .collect();
        let sent = send(publisher.as_mut(), base, events);
        let heard: Result<Vec<_>, Fault> = hearing
            .into_iter()
            .map(|one| one.join().map_err(|_| "a listener failed".to_owned())?)
            .collect();
        (sent, heard)
    });
    let (sent, heard) = (sent?, heard?);
    let last = |number: usize| {
        heard
            .iter()
            .map(|all| all[number])
            .max()
            .unwrap_or_default()
    };
    let taken = sent.iter().enumerate();
    let taken = taken.map(|(number, sent)| last(number).saturating_sub(*sent));
    let what = format!(
        "{}, to the last of {listeners}, {}",
        broker.name(),
        durability.as_str()
    );
    say(&format!("{what:<44} {}", spread(taken.collect())));
    Ok(())
}

fn send(publisher: &mut dyn Publisher, base: Instant, events: u64) -> Result<Vec<Duration>, Fault> {
    let mut sent = Vec::new();
    for number in 0..events {
        sent.push(base.elapsed());
        publisher.publish(number..number + 1)?;
        thread::sleep(PAUSE);
    }
    Ok(sent)
}

fn hear(
    subscriber: &mut dyn Subscriber,
    base: Instant,
    events: u64,
) -> Result<Vec<Duration>, Fault> {
    let mut heard = Vec::new();
    for expected in 0..events {
        let number = subscriber.next()?;
        if number != expected {
            return Err(format!("event {number} came where {expected} was due"));
        }
        heard.push(base.elapsed());
    }
    Ok(heard)
}

/// How many events a second are acknowledged to many who hand them in by the dozen.
pub(super) fn rate(broker: &dyn Broker, durability: Durability) -> Result<(), Fault> {
    let mut publishers = Vec::new();
    for _ in 0..PUBLISHERS {
        let Some(publisher) = broker.publisher(durability)? else {
            return Ok(());
        };
        publishers.push(publisher);
    }
    let begun = Instant::now();
    let counted: Result<Vec<u64>, Fault> = thread::scope(|scope| {
        let handing: Vec<_> = publishers
            .iter_mut()
            .map(|publisher| {
                scope.spawn(move || {
                    let mut done = 0;
                    while begun.elapsed() < LONG {
                        publisher.publish(done..done + BATCH)?;
                        done += BATCH;
                    }
                    Ok(done)
                })
            })
            .collect();
        let joined = handing.into_iter();
        joined
            .map(|one| one.join().map_err(|_| "a publisher failed".to_owned())?)
            .collect()
    });
    let total: u64 = counted?.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "a count of events of seconds")]
    let rate = total as f64 / begun.elapsed().as_secs_f64();
    let what = format!("{}, {}", broker.name(), durability.as_str());
    say(&format!(
        "{what:<44} {rate:>9.0} events a second, {PUBLISHERS} at once, {BATCH} at a time"
    ));
    Ok(())
}

/// The best tenth, median and 99th percentile.
fn spread(mut taken: Vec<Duration>) -> String {
    taken.sort();
    let at = |percent: usize| {
        let index = taken.len().saturating_sub(1) * percent / 100;
        taken.get(index).map_or(0.0, |one| one.as_secs_f64() * 1e6)
    };
    format!(
        "p10 {:>8.1} µs, p50 {:>8.1}, p99 {:>8.1}, of {}",
        at(10),
        at(50),
        at(99),
        taken.len()
    )
}
