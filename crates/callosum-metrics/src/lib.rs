//! Metrics: counters, gauges and histograms as Prometheus reads them.
//!
//! Start with [`Family`]: the code that counts returns families, and [`text`] writes them. [`CakeMetrics`] counts what the
//! guard decided and which messages agents were sent. The daemon counts its own work in `callosum-daemon`.

#![forbid(unsafe_code)]

mod cake;
mod family;
mod histogram;

pub use self::{
    cake::{CakeMetrics, GuardDecision, SentMessage},
    family::{Family, FamilyOutput, Value, text},
    histogram::Histogram,
};
