//! Notifying a person that messages have not helped an agent (Seed CAKE §1 and §6).
//!
//! Start with `start`. A hook has no time for the network, so it leaves a [`Notice`] in the machine's state folder and starts
//! `callosum operator notify ID`, which calls [`deliver`]. Address and channel come from the user's own `cake_config.yaml`:
//! a repository cannot set them.

use std::{ffi::OsString, path::PathBuf, thread, time::Duration};

use callosum_executor::http::{NoWebhook, Webhook};
use callosum_guard::config::Escalation;
use callosum_host::{
    Disk, DiskError,
    process::{self, Cancel, Ending, Launch, Limits, SpawnError},
};
use callosum_redact::terminal_escape::on_one_line;
use serde::{Deserialize, Serialize};
use serde_json::json;

use callosum_config::{Environment, Homes};

/// Pauses between the tries of a webhook that does not answer.
const PAUSES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(15)];

/// Time limit for the desktop's notifier.
const DESKTOP_PATIENCE: Duration = Duration::from_secs(5);

/// Longest text of a notification, in characters.
const LONGEST: usize = 300;

/// A notification for a person. Secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its id, a UUID.
    pub id: String,
    /// When, in UTC.
    pub timestamp: String,
    /// The root of the project.
    pub project: String,
    /// The client.
    pub client: String,
    /// The session, as the client names it.
    pub session: String,
    /// The class of the error.
    pub error_type: String,
    /// The file as printed.
    pub file_path: Option<String>,
    /// The tool's message.
    pub message: String,
    /// Messages that the agent was sent about it.
    pub strikes: u32,
}

/// The reason why a person could not be notified.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The notice cannot be stored or read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The process that delivers it cannot be started, or the desktop's notifier.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The path of this program is unknown.
    #[error("cannot find the path of this program")]
    NoProgram(#[source] std::io::Error),
    /// There is no notice of this id.
    #[error("there is no notice `{0}`")]
    NoNotice(String),
    /// A notice is damaged.
    #[error("`{}` is not a notice", path.display())]
    Damaged {
        /// Its file.
        path: PathBuf,
        /// The error of the JSON parser.
        source: serde_json::Error,
    },
    /// The address cannot be posted to.
    #[error("`escalation.human_notification.webhook`: {0}")]
    Address(#[from] NoWebhook),
    /// The webhook does not answer, or refuses.
    #[error("the webhook did not accept the notice: {0}")]
    Webhook(String),
    /// The desktop's notifier failed.
    #[error("`{program}` failed: {words}")]
    Desktop {
        /// The program.
        program: String,
        /// Its output.
        words: String,
    },
}

impl Notice {
    /// Returns its text for people, on one line.
    pub fn text(&self) -> String {
        let place = self.file_path.as_deref().map(|file| format!(" in {file}"));
        let text = format!(
            "{} has hit {}{} after {} messages in {}: {}",
            self.client,
            self.error_type,
            place.unwrap_or_default(),
            self.strikes,
            self.project,
            self.message
        );
        on_one_line(&text).chars().take(LONGEST).collect()
    }

    fn file(homes: &Homes, id: &str) -> PathBuf {
        homes.notices().join(format!("{id}.json"))
    }
}

/// Whether a person is to be notified at all.
pub fn is_enabled(escalation: &Escalation) -> bool {
    escalation.webhook.is_some() || escalation.desktop
}

/// Stores a notice, and starts the process that delivers it. Returns at once.
pub(super) fn start(
    disk: &Disk,
    environment: &Environment,
    homes: &Homes,
    notice: &Notice,
) -> Result<(), NotifyError> {
    disk.create_private_dir(&homes.notices())?;
    let path = Notice::file(homes, &notice.id);
    let bytes = serde_json::to_vec(notice).unwrap_or_default();
    disk.replace_unsynced(&path, &bytes, 0o600)?;
    let program = std::env::current_exe().map_err(NotifyError::NoProgram)?;
    let arguments: [OsString; 3] = [
        "operator".into(),
        "notify".into(),
        notice.id.as_str().into(),
    ];
    process::leave(&launch(program, arguments.into(), environment))?;
    Ok(())
}

/// Delivers a stored notice, and removes it once it is delivered.
///
/// # Errors
/// If no channel takes it. It stays in the state folder then.
pub fn deliver_stored(
    disk: &Disk,
    homes: &Homes,
    id: &str,
    deliver: impl FnOnce(&Notice) -> Result<(), NotifyError>,
) -> Result<(), NotifyError> {
    // An id is a part of a file name here.
    let is_id = !id.is_empty()
        && id
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'-');
    let path = Notice::file(homes, id);
    let bytes = if is_id {
        disk.read_if_there(&path)?
    } else {
        None
    };
    let bytes = bytes.ok_or_else(|| NotifyError::NoNotice(id.to_owned()))?;
    let notice: Notice = serde_json::from_slice(&bytes).map_err(|source| NotifyError::Damaged {
        path: path.clone(),
        source,
    })?;
    deliver(&notice)?;
    disk.remove_file(&path)?;
    Ok(())
}

/// Delivers a notice by each channel that is configured.
///
/// # Errors
/// If one of them fails; the other is tried all the same.
pub fn deliver(
    environment: &Environment,
    escalation: &Escalation,
    cancel: &Cancel,
    notice: &Notice,
) -> Result<(), NotifyError> {
    let on_desktop = if escalation.desktop {
        show(environment, cancel, notice)
    } else {
        Ok(())
    };
    if let Some(address) = &escalation.webhook {
        post(address, notice)?;
    }
    on_desktop
}

fn post(address: &str, notice: &Notice) -> Result<(), NotifyError> {
    let webhook = Webhook::new(address)?;
    let text = notice.text();
    // `text` is Slack's and Mattermost's key, `content` Discord's.
    let document =
        json!({"text": text, "content": text, "event": "operator.escalated", "error": notice});
    let mut pauses = PAUSES.iter();
    loop {
        let failure = match webhook.post(&document) {
            Ok(posted) if (200..300).contains(&posted.status) => return Ok(()),
            Ok(posted) => format!("status {}: {}", posted.status, on_one_line(&posted.words)),
            Err(unposted) => unposted.words,
        };
        match pauses.next() {
            Some(pause) => thread::sleep(*pause),
            None => return Err(NotifyError::Webhook(failure)),
        }
    }
}

/// Shows a notice by the desktop's own program. The text is an argument, never part of a script.
fn show(environment: &Environment, cancel: &Cancel, notice: &Notice) -> Result<(), NotifyError> {
    let (title, text) = ("callosum: an agent needs you", notice.text());
    let (program, arguments): (&str, Vec<OsString>) = if cfg!(target_os = "macos") {
        let script = [
            "on run argv",
            "display notification (item 1 of argv) with title (item 2 of argv)",
            "end run",
        ];
        let lines = script.iter().flat_map(|line| ["-e", line]);
        let arguments = lines.map(OsString::from).chain([text.into(), title.into()]);
        ("osascript", arguments.collect())
    } else {
        let arguments = ["--app-name=callosum", "--", title, &text].map(OsString::from);
        ("notify-send", arguments.into())
    };
    let launch = launch(program.into(), arguments, environment);
    let run = process::run(&launch, cancel, &mut |_, _| {})?;
    if run.ending == Ending::Exited(0) {
        return Ok(());
    }
    Err(NotifyError::Desktop {
        program: program.to_owned(),
        words: on_one_line(&String::from_utf8_lossy(&run.error)),
    })
}

/// Returns how a program is started in the user's own environment. [`process::leave`] ignores its limits.
pub(super) fn launch(
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: &Environment,
) -> Launch {
    let variables = environment.iter();
    Launch {
        program,
        arguments,
        folder: "/".into(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: Some(DESKTOP_PATIENCE),
            output_bytes: 4_096,
            error_bytes: 4_096,
        },
    }
}
