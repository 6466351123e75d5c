//! [`Counts`]: what the daemon has done, in the text form of Prometheus.
//!
//! Base units, seconds and bytes, as its conventions ask for. A label never takes more values than
//! a few dozen: what comes from outside counts as `other` beyond that.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Write as _,
    sync::{PoisonError, atomic::Ordering},
    time::Duration,
};

use callosum_mesh::{event::Event, journal::Durability};

use super::{
    board::{Changes, write_tally},
    keeper::Tallies,
    sink::SinkStatus,
};

/// Most pairs of a topic's class and a source that are counted apart.
const MOST_SERIES: usize = 64;

/// Upper bounds of the histograms, in seconds: from a write to the page cache to a disk that hangs.
const BOUNDS: [f64; 12] = [
    0.000_025, 0.000_1, 0.000_25, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0,
];

/// What is counted since the process began.
#[derive(Debug, Default)]
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
    /// Connections that were let go of already, and nobody's but this user's.
    let_in: Cell<u64>,
    unreadable: Cell<u64>,
    changes: Changes,
}

/// How it stands at this moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gauges {
    pub(super) streams: usize,
    pub(super) bus: usize,
    pub(super) log_bytes: u64,
    pub(super) log_files: usize,
    pub(super) last_seq: u64,
    pub(super) resident_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Histogram {
    within: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        self.count += 1;
        self.sum += seconds;
        for (within, bound) in self.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
    }

    fn write(&self, text: &mut String, name: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        for (within, bound) in self.within.iter().zip(BOUNDS) {
            let _ = writeln!(
                text,
                "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {within}"
            );
        }
        let Self { count, sum, .. } = self;
        let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
        let braces = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{labels}}}")
        };
        let _ = writeln!(
            text,
            "{name}_sum{braces} {sum}\n{name}_count{braces} {count}"
        );
    }
}

impl Counts {
    /// An event that everybody is told of, by whomever it was appended.
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

    /// Something that was handed in here is acknowledged.
    pub(super) fn publish(&self, durability: Durability, took: Duration) {
        let mut publishes = self.publishes.borrow_mut();
        publishes.entry(durability.as_str()).or_default().add(took);
    }

    /// The disk has said that it has what was appended.
    pub(super) fn sync(&self, took: Duration) {
        self.syncs.borrow_mut().add(took);
    }

    /// Everybody who listens was handed what is new.
    pub(super) fn fan_out(&self, took: Duration) {
        self.fan_outs.borrow_mut().add(took);
    }

    /// A subscriber was not handed an event: it reads it from the log, or never gets it.
    pub(super) fn dropped(&self, reason: &'static str, count: u64) {
        *self.dropped.borrow_mut().entry(reason).or_default() += count;
    }

    /// A request was not answered as it wished.
    pub(super) fn refused(&self, reason: &'static str) {
        *self.refused.borrow_mut().entry(reason).or_default() += 1;
    }

    /// A connection that was let go of already was taken, since nobody else is at the machine.
    pub(super) fn let_in(&self) {
        self.let_in.set(self.let_in.get() + 1);
    }

    /// The log could not be looked at.
    pub(super) fn unreadable(&self) {
        self.unreadable.set(self.unreadable.get() + 1);
    }

    /// All of it, as version 0.0.4 of the text form has it.
    pub(super) fn text(&self, gauges: Gauges) -> String {
        let mut text = String::new();
        begin(
            &mut text,
            "mesh_events_total",
            "counter",
            "Events by the class of their topic and their source",
        );
        for ((class, source), count) in self.events.borrow().iter() {
            let _ = writeln!(
                text,
                "mesh_events_total{{topic_class=\"{class}\",source=\"{source}\"}} {count}"
            );
        }
        begin(
            &mut text,
            "mesh_publish_seconds",
            "histogram",
            "From being handed an event to its acknowledgement",
        );
        for (durability, histogram) in self.publishes.borrow().iter() {
            let labels = format!("durability=\"{durability}\"");
            histogram.write(&mut text, "mesh_publish_seconds", &labels);
        }
        begin(
            &mut text,
            "mesh_fanout_seconds",
            "histogram",
            "From an append to the last subscriber's queue",
        );
        self.fan_outs
            .borrow()
            .write(&mut text, "mesh_fanout_seconds", "");
        begin(
            &mut text,
            "mesh_sync_seconds",
            "histogram",
            "How long the disk took to say that it has what was appended",
        );
        self.syncs
            .borrow()
            .write(&mut text, "mesh_sync_seconds", "");
        begin(&mut text, "mesh_subscribers", "gauge", "Who listens now");
        let Gauges { streams, bus, .. } = gauges;
        let _ = writeln!(text, "mesh_subscribers{{transport=\"stream\"}} {streams}");
        let _ = writeln!(text, "mesh_subscribers{{transport=\"bus\"}} {bus}");
        begin(
            &mut text,
            "mesh_dropped_total",
            "counter",
            "Events that a subscriber was not handed as they happened",
        );
        for reason in ["slow", "ephemeral", "reset"] {
            let count = self.dropped.borrow().get(reason).copied().unwrap_or(0);
            let _ = writeln!(text, "mesh_dropped_total{{reason=\"{reason}\"}} {count}");
        }
        begin(
            &mut text,
            "mesh_refused_total",
            "counter",
            "Requests that were refused",
        );
        for reason in [
            "host", "page", "faults", "size", "rate", "full", "log", "slow", "board", "busy",
            "reused", "silent", "user", "gone",
        ] {
            let count = self.refused.borrow().get(reason).copied().unwrap_or(0);
            let _ = writeln!(text, "mesh_refused_total{{reason=\"{reason}\"}} {count}");
        }
        one(
            &mut text,
            "mesh_let_go_total",
            "counter",
            "Connections that were let go of at once, and taken since nobody else is at this machine",
            self.let_in.get() as f64,
        );
        let unreadable = self.unreadable.get() as f64;
        one(
            &mut text,
            "mesh_log_errors_total",
            "counter",
            "Times that the log could not be looked at",
            unreadable,
        );
        one(
            &mut text,
            "mesh_log_bytes",
            "gauge",
            "Bytes of the log",
            gauges.log_bytes as f64,
        );
        one(
            &mut text,
            "mesh_log_files",
            "gauge",
            "Files of the log",
            gauges.log_files as f64,
        );
        one(
            &mut text,
            "mesh_log_last_seq",
            "gauge",
            "The last event of the log",
            gauges.last_seq as f64,
        );
        self.changes.write(&mut text);
        if let Some(bytes) = gauges.resident_bytes {
            one(
                &mut text,
                "process_resident_memory_bytes",
                "gauge",
                "Memory that the daemon holds",
                bytes as f64,
            );
        }
        text
    }
}

impl Tallies {
    /// What the bridge brought and how the board stands, likewise.
    pub(super) fn write(&self, text: &mut String) {
        for (name, help, tally) in [
            (
                "mesh_bridge_edits_total",
                "Edits of the bridge file that were taken over",
                &self.edits,
            ),
            (
                "mesh_bridge_conflicts_total",
                "What could not be taken over",
                &self.conflicts,
            ),
            (
                "mesh_bridge_rejected_total",
                "Files of the bridge that were no JSON",
                &self.rejected,
            ),
            (
                "mesh_bridge_errors_total",
                "Times that the bridge could not be brought in line",
                &self.errors,
            ),
        ] {
            one(
                text,
                name,
                "counter",
                help,
                tally.load(Ordering::Relaxed) as f64,
            );
        }
        let tally = self.board.lock();
        write_tally(&tally.unwrap_or_else(PoisonError::into_inner), text);
    }
}

/// What is counted of a sink.
type Value = fn(&SinkStatus) -> u64;

/// How the places stand that events are passed on to.
pub(super) fn write_sinks(sinks: &[SinkStatus], text: &mut String) {
    let values: [(&str, &str, &str, Value); 4] = [
        (
            "mesh_sink_messages_total",
            "counter",
            "Messages that a sink took",
            |sink| sink.messages,
        ),
        (
            "mesh_sink_failures_total",
            "counter",
            "Times that a sink took nothing",
            |sink| sink.failures,
        ),
        (
            "mesh_sink_passed_over_total",
            "counter",
            "Events that a sink refused by themselves, and does not have",
            |sink| sink.passed_over,
        ),
        (
            "mesh_sink_up",
            "gauge",
            "Whether the last that was tried at a sink went well",
            |sink| u64::from(sink.is_well),
        ),
    ];
    for (name, kind, help, value) in values {
        begin(text, name, kind, help);
        for sink in sinks {
            let _ = writeln!(text, "{name}{{sink=\"{}\"}} {}", sink.name, value(sink));
        }
    }
}

pub(super) fn begin(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn one(text: &mut String, name: &str, kind: &str, help: &str, value: f64) {
    begin(text, name, kind, help);
    let _ = writeln!(text, "{name} {value}");
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
        let text = counts.text(Gauges::default());
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
