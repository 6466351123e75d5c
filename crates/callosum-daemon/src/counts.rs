//! [`Counts`]: counters of the daemon's work, and the metrics that they make.
//!
//! Base units, seconds and bytes, as the conventions of Prometheus ask for. A label never takes
//! more than a few dozen values: beyond that, what comes from outside counts as `other`.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

use callosum_mesh::{event::Event, journal::Durability};

use super::board::Changes;
use callosum_metrics::{Family, Histogram, Value};

/// Most pairs of a topic's class and a source that are counted apart.
const MOST_SERIES: usize = 64;

/// Upper bounds of the histograms, in seconds: from a write to the page cache to a disk that hangs.
const BOUNDS: &[f64] = &[
    0.000_025, 0.000_1, 0.000_25, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0,
];

/// Counters since the process began.
#[derive(Debug)]
pub(super) struct Counts {
    /// By the topic's class and the source.
    events: RefCell<BTreeMap<(String, String), u64>>,
    /// By durability.
    publishes: RefCell<BTreeMap<&'static str, Histogram>>,
    syncs: RefCell<Histogram>,
    fan_outs: RefCell<Histogram>,
    /// By reason.
    dropped: RefCell<BTreeMap<&'static str, u64>>,
    /// By reason.
    refused: RefCell<BTreeMap<&'static str, u64>>,
    /// Connections that closed at once and can only have been this user's.
    let_in: Cell<u64>,
    unreadable: Cell<u64>,
    changes: Changes,
}

/// Current values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gauges {
    pub(super) streams: usize,
    pub(super) bus: usize,
    pub(super) log_bytes: u64,
    pub(super) log_files: usize,
    pub(super) last_seq: u64,
    pub(super) resident_bytes: Option<u64>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            events: RefCell::default(),
            publishes: RefCell::default(),
            syncs: RefCell::new(Histogram::new(BOUNDS)),
            fan_outs: RefCell::new(Histogram::new(BOUNDS)),
            dropped: RefCell::default(),
            refused: RefCell::default(),
            let_in: Cell::default(),
            unreadable: Cell::default(),
            changes: Changes::default(),
        }
    }
}

impl Counts {
    /// Counts an event of the log, no matter which process appended it.
    pub(super) fn event(&self, event: &Event) {
        self.changes.event(event);
        let mut events = self.events.borrow_mut();
        let key = (event.topic.class().to_owned(), event.source.to_string());
        let key = if events.len() < MOST_SERIES || events.contains_key(&key) {
            key
        } else {
            ("other".to_owned(), "other".to_owned())
        };
        *events.entry(key).or_default() += 1;
    }

    /// Counts the acknowledgement of a post.
    pub(super) fn publish(&self, durability: Durability, took: Duration) {
        let mut publishes = self.publishes.borrow_mut();
        publishes
            .entry(durability.as_str())
            .or_insert_with(|| Histogram::new(BOUNDS))
            .observe_duration(took);
    }

    /// Counts a sync of the disk that has succeeded.
    pub(super) fn sync(&self, took: Duration) {
        self.syncs.borrow_mut().observe_duration(took);
    }

    /// Everybody who listens was handed what is new.
    pub(super) fn fan_out(&self, took: Duration) {
        self.fan_outs.borrow_mut().observe_duration(took);
    }

    /// A subscriber was not handed an event: it reads it from the log, or never gets it.
    pub(super) fn dropped(&self, reason: &'static str, count: u64) {
        *self.dropped.borrow_mut().entry(reason).or_default() += count;
    }

    /// A request was not answered as it wished.
    pub(super) fn refused(&self, reason: &'static str) {
        *self.refused.borrow_mut().entry(reason).or_default() += 1;
    }

    /// Counts a connection that closed at once and was accepted, since no other user is on the
    /// machine.
    pub(super) fn let_in(&self) {
        self.let_in.set(self.let_in.get() + 1);
    }

    /// The log could not be looked at.
    pub(super) fn unreadable(&self) {
        self.unreadable.set(self.unreadable.get() + 1);
    }

    /// Returns all of them.
    pub(super) fn families(&self, gauges: Gauges) -> Vec<Family> {
        let mut events = Family::counter(
            "mesh_events_total",
            "Events by the class of their topic and their source",
        );
        for ((class, source), count) in self.events.borrow().iter() {
            let labels = [("topic_class", &**class), ("source", source)];
            events.add(labels, Value::Integer(*count));
        }
        let mut publishes = Family::histogram(
            "mesh_publish_seconds",
            "From receiving an event to its acknowledgement",
        );
        for (durability, histogram) in self.publishes.borrow().iter() {
            let value = Value::Histogram(histogram.clone());
            publishes.add([("durability", *durability)], value);
        }
        let fan_outs = Family::histogram(
            "mesh_fanout_seconds",
            "From an append to the last subscriber's queue",
        )
        .of(Value::Histogram(self.fan_outs.borrow().clone()));
        let syncs = Family::histogram("mesh_sync_seconds", "How long a sync of the log took")
            .of(Value::Histogram(self.syncs.borrow().clone()));
        let Gauges { streams, bus, .. } = gauges;
        let subscribers = Family::gauge("mesh_subscribers", "Connected subscribers")
            .with([("transport", "stream")], Value::Integer(streams as u64))
            .with([("transport", "bus")], Value::Integer(bus as u64));
        let counted = |counts: &RefCell<BTreeMap<&'static str, u64>>, reason| {
            Value::Integer(counts.borrow().get(reason).copied().unwrap_or(0))
        };
        let mut dropped = Family::counter(
            "mesh_dropped_total",
            "Events that a subscriber did not receive live",
        );
        for reason in ["slow", "ephemeral", "reset"] {
            dropped.add([("reason", reason)], counted(&self.dropped, reason));
        }
        let mut refused = Family::counter("mesh_refused_total", "Refused requests");
        for reason in [
            "host", "page", "faults", "size", "rate", "full", "log", "slow", "board", "busy",
            "token", "reused", "silent", "user", "gone",
        ] {
            refused.add([("reason", reason)], counted(&self.refused, reason));
        }
        let let_go = Family::counter(
            "mesh_let_go_total",
            "Connections that closed at once and were accepted, since no other user is on the machine",
        );
        let log_errors = Family::counter("mesh_log_errors_total", "Failed reads of the log");
        let mut families = vec![
            events,
            publishes,
            fan_outs,
            syncs,
            subscribers,
            dropped,
            refused,
            let_go.of(Value::Integer(self.let_in.get())),
            log_errors.of(Value::Integer(self.unreadable.get())),
            Family::gauge("mesh_log_bytes", "Bytes of the log")
                .of(Value::Integer(gauges.log_bytes)),
            Family::gauge("mesh_log_files", "Files of the log")
                .of(Value::Integer(gauges.log_files as u64)),
            Family::gauge("mesh_log_last_seq", "Number of the last event of the log")
                .of(Value::Integer(gauges.last_seq)),
        ];
        families.extend(self.changes.families());
        if let Some(bytes) = gauges.resident_bytes {
            let resident = Family::gauge("process_resident_memory_bytes", "Memory of the daemon");
            families.push(resident.of(Value::Integer(bytes)));
        }
        families
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(topic: &str, source: &str) -> Event {
        serde_json::from_value(json!({
            "seq": 1, "origin": "o", "id": "i", "type": topic, "event": topic, "source": source,
            "machine": "m", "timestamp": "2026-01-02T03:04:05Z", "ts": 1.0, "session_id": null,
            "pane_id": null, "cwd": null, "payload": {},
        }))
        .unwrap()
    }

    /// CALC-L1-1: events are counted for Prometheus, under a bounded number of names.
    #[test]
    fn what_comes_from_outside_makes_no_series_without_end() {
        let counts = Counts::default();
        for number in 0..1000 {
            counts.event(&event(&format!("t{number}.x"), "codex"));
        }
        counts.event(&event("t1.y", "codex"));
        counts.publish(Durability::Synced, Duration::from_millis(2));
        let text = callosum_metrics::text(counts.families(Gauges::default())).unwrap();
        let series = text
            .lines()
            .filter(|line| line.starts_with("mesh_events_total{"));
        assert_eq!(series.count(), MOST_SERIES + 1);
        for line in [
            "mesh_events_total{topic_class=\"t1\",source=\"codex\"} 2",
            "mesh_events_total{topic_class=\"other\",source=\"other\"} 936",
            "mesh_publish_seconds_bucket{durability=\"synced\",le=\"0.001\"} 0",
            "mesh_publish_seconds_bucket{durability=\"synced\",le=\"0.0025\"} 1",
            "mesh_publish_seconds_count{durability=\"synced\"} 1",
            "mesh_fanout_seconds_bucket{le=\"+Inf\"} 0",
            "mesh_fanout_seconds_count 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
