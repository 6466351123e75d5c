//! [`speak`]: the process that speaks for the controller, from its job to its last event.

use std::io::Write;

use crate::{
    acp,
    http::{self, Interface},
    mcp,
    transport::{Event, Job, Transport, WorkerContext},
};

/// Reason why a job had no reports.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The standard input is no job.
    #[error("cannot read the job on standard input")]
    Unreadable(#[from] serde_json::Error),
    /// No one listens any more.
    #[error("cannot write the events")]
    Unheard(#[from] std::io::Error),
}

/// Does one job, and writes its events as lines to `out`.
///
/// A failure of the other side is an event, not an error.
pub fn speak(
    job: &[u8],
    means: &WorkerContext<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), JobError> {
    let job: Job = serde_json::from_slice(job)?;
    let mut unheard = None;
    let mut tell = |event: Event| {
        if unheard.is_none() {
            unheard = write_line(&event, out).err();
        }
        unheard.is_none()
    };
    let done = match job.transport {
        Transport::OpenAi => http::answer(Interface::OpenAi, &job, means, &mut tell),
        Transport::Ollama => http::answer(Interface::Ollama, &job, means, &mut tell),
        Transport::Callosum => http::answer(Interface::Callosum, &job, means, &mut tell),
        Transport::Hosted => http::answer(Interface::Hosted, &job, means, &mut tell),
        Transport::Mcp => mcp::answer(&job, means, &mut tell),
        Transport::Acp => acp::answer(&job, means, &mut tell),
    };
    if let Err(complaint) = done {
        tell(complaint.into());
    }
    match unheard {
        None => Ok(()),
        Some(error) => Err(error.into()),
    }
}

fn write_line(event: &Event, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}
