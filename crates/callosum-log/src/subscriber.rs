//! [`start`]: sends the `tracing` events of this process to a log file.

use std::{fmt, io, sync::Arc};

use callosum_host::Clock;
use callosum_redact::{secrets::mask, terminal_escape::on_one_line};
use tracing::{Subscriber, subscriber::set_global_default};
use tracing_subscriber::{
    filter::Targets,
    fmt::{MakeWriter, format::Writer, time::FormatTime},
    layer::SubscriberExt as _,
    registry::Registry,
};

use super::{Level, LogFile};

/// The crates whose events are written begin so: libraries log for their own authors.
const OWN: &str = "callosum";

/// The log of this process was started before.
#[derive(Debug, thiserror::Error)]
#[error("this process already writes a log")]
pub struct StartError(#[from] tracing::subscriber::SetGlobalDefaultError);

/// Sends the events of this process to a file from now on.
///
/// # Errors
/// If that was done before in this process.
pub fn start(file: LogFile, level: Level, clock: Clock) -> Result<(), StartError> {
    Ok(set_global_default(subscriber(file, level, clock))?)
}

/// Returns what writes events of our crates to a file, for one thread or for all.
///
/// An event is one line: time in UTC, level, crate, message, fields. Secrets are masked, and what a terminal would obey is
/// escaped.
pub fn subscriber(
    file: LogFile,
    level: Level,
    clock: Clock,
) -> impl Subscriber + Send + Sync + 'static {
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_timer(UtcTime(clock))
        .with_writer(LineWriter(Arc::new(file)));
    let own = Targets::new().with_target(OWN, tracing_subscriber::filter::LevelFilter::from(level));
    Registry::default().with(layer).with(own)
}

/// The time of an event, in UTC.
struct UtcTime(Clock);

impl FormatTime for UtcTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", self.0.now())
    }
}

/// Writes each event as one line.
#[derive(Clone)]
struct LineWriter(Arc<LogFile>);

impl<'a> MakeWriter<'a> for LineWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl io::Write for LineWriter {
    /// Takes a whole event, as the layer hands it over.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = on_one_line(text.trim_end_matches('\n'));
        self.0.append(&mask(&line).text);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
