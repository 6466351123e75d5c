//! Metrics of the bridge, the board and the sinks, made of what their threads count.

use std::sync::{PoisonError, atomic::Ordering};

use callosum_metrics::{Family, Value};

use super::{board::tally_families, board_worker::Tallies, sink::SinkStatus};

impl Tallies {
    /// Returns the counts of the bridge, and the state of the board.
    pub(super) fn families(&self) -> Vec<Family> {
        let counter = |name, help, tally: &std::sync::atomic::AtomicU64| {
            let count = tally.load(Ordering::Relaxed);
            Family::counter(name, help).of(Value::Integer(count))
        };
        let mut families = vec![
            counter(
                "mesh_bridge_edits_total",
                "Edits of the bridge file that were applied",
                &self.edits,
            ),
            counter(
                "mesh_bridge_conflicts_total",
                "Edits of the bridge file that could not be applied",
                &self.conflicts,
            ),
            counter(
                "mesh_bridge_rejected_total",
                "Bridge files that were not valid JSON",
                &self.rejected,
            ),
            counter(
                "mesh_bridge_errors_total",
                "Failed updates of the bridge",
                &self.errors,
            ),
        ];
        let tally = self.board.lock();
        let tally = tally.unwrap_or_else(PoisonError::into_inner);
        families.extend(tally_families(&tally));
        families
    }
}

/// Returns the state of the places that events are passed on to.
pub(super) fn sink_families(sinks: &[SinkStatus]) -> Vec<Family> {
    let mut families = vec![
        Family::counter("mesh_sink_messages_total", "Messages that a sink accepted"),
        Family::counter("mesh_sink_failures_total", "Failed deliveries to a sink"),
        Family::counter(
            "mesh_sink_passed_over_total",
            "Events that a sink rejected even alone, and does not have",
        ),
        Family::gauge(
            "mesh_sink_up",
            "Whether the last delivery to a sink succeeded",
        ),
    ];
    for sink in sinks {
        let counts = [
            sink.messages,
            sink.failures,
            sink.passed_over,
            u64::from(sink.healthy),
        ];
        for (family, count) in families.iter_mut().zip(counts) {
            family.add([("sink", &*sink.name)], Value::Integer(count));
        }
    }
    families
}
