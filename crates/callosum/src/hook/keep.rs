//! A snapshot of the tree, before something runs that may lose work.
//!
//! What a person is asked about has time: a child of our own takes it while they read, and nobody
//! waits. What runs as soon as it is answered, because it is allowed or a person has permitted it
//! before, waits for the snapshot, but no longer than [`PATIENCE`]: a client runs the tool anyway
//! once its own limit is over. The snapshot then goes on beside the tool.

use std::{sync::mpsc, thread, time::Duration};

use callosum_guard::Decision;
use callosum_host::process::{Cancel, Ending, Launch, Limits, SpawnError, leave, run};

use super::{answer::Reply, judge::Judged, place::Place, record::About};

/// How long an answer waits for a snapshot: less than what a client is answered in at all.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a snapshot may take that nobody waits for any more.
const LONGEST_RUN: Duration = Duration::from_mins(5);

/// Most characters of a command that name its snapshot.
const LONGEST: usize = 60;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is being taken while a person is asked.
    Begun,
    /// It was taken before the answer.
    Taken,
    /// It was not done in time, and goes on.
    Late,
    /// There is none.
    Failed,
}

impl Kept {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Taken => "taken",
            Self::Late => "late",
            Self::Failed => "failed",
        }
    }
}

/// Has a snapshot taken of a repository in which a person is asked, or something may lose work.
///
/// `None` where nothing needs one. Where it cannot be taken, the answer stands all the same.
pub(super) fn before(about: &About, judged: &Judged, reply: &Reply, place: &Place) -> Option<Kept> {
    let root = place.facts.root.as_deref()?;
    place.facts.git_dir.as_ref()?;
    let runs = judged.verdict.decision == Decision::Allow;
    let is_wanted =
        reply.is_question || runs && (judged.verdict.destroys || !judged.permitted.is_empty());
    if !is_wanted {
        return None;
    }
    let launch = launch(root, &about.label(LONGEST), place)?;
    if reply.is_question {
        return Some(leave(&launch).map_or(Kept::Failed, |()| Kept::Begun));
    }
    Some(waited_for(launch).unwrap_or(Kept::Failed))
}

fn launch(root: &str, label: &str, place: &Place) -> Option<Launch> {
    let label = format!("before: {label}");
    let arguments = [
        "-C",
        root,
        "--no-progress",
        "snapshot",
        "create",
        "--",
        &label,
    ];
    let variables = place.environment.iter();
    Some(Launch {
        program: std::env::current_exe().ok()?,
        arguments: arguments.map(Into::into).into(),
        folder: root.into(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: Some(LONGEST_RUN),
            output_bytes: 64 * 1024,
            error_bytes: 1024,
        },
    })
}

/// Runs it and waits as long as an answer may. It has a process group of its own, so that it
/// outlives this process where it is late.
fn waited_for(launch: Launch) -> Result<Kept, SpawnError> {
    let (done, told) = mpsc::sync_channel(1);
    let running = thread::Builder::new().spawn(move || {
        let ended = Cancel::new().map(|cancel| run(&launch, &cancel, &mut |_, _| {}));
        drop(done.send(ended));
    });
    if running.is_err() {
        return Ok(Kept::Failed);
    }
    match told.recv_timeout(PATIENCE) {
        Ok(Ok(ended)) => Ok(match ended?.ending {
            Ending::Exited(0) => Kept::Taken,
            _ => Kept::Failed,
        }),
        Ok(Err(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => Ok(Kept::Failed),
        Err(mpsc::RecvTimeoutError::Timeout) => Ok(Kept::Late),
    }
}
