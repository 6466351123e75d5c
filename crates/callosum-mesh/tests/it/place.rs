//! A mesh in a temporary folder, and what a test asks of it.

use std::path::{Path, PathBuf};

use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::{
    Author, Mesh, MeshError,
    board::{BoardError, Command, NewTask},
    bridge::{Bridge, Synced},
    digest::Digest,
    event::Event,
    journal::Cursor,
    route::Matrix,
};
use serde_json::Value;

/// A folder with a mesh.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) disk: Disk,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
            disk: Disk::real(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn mesh(&self) -> Mesh {
        let (clock, ids) = (Clock::system(), Ids::random());
        let mesh = Mesh::open(&self.disk, &clock, &ids, self.folder.path(), "mac1");
        mesh.expect("it opens").with_matrix(Matrix::seed())
    }

    /// Brings file and log in line.
    pub(crate) fn sync(&self) -> Synced {
        let mut mesh = self.mesh();
        let bridge = Bridge::of(&self.disk, &mesh);
        bridge.sync(&mut mesh).expect("the disk works")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("orchestrator_bridge.json")
    }

    pub(crate) fn text(&self) -> String {
        let bytes = self.disk.read(&self.file()).expect("the file is there");
        String::from_utf8(bytes).expect("it is UTF-8")
    }

    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.text()).expect("it is JSON")
    }

    /// Writes the file as an editor does that has it open: into the same file.
    pub(crate) fn write(&self, text: &str) {
        write_into(&self.file(), text.as_bytes());
    }

    pub(crate) fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut document = self.document();
        change(&mut document);
        self.write(&document.to_string());
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let mesh = self.mesh();
        let mut reader = mesh.journal().read_after(&Cursor::START);
        let mut events = Vec::new();
        loop {
            let batch = reader.next_batch(1000).expect("the log is readable");
            events.extend(batch.events);
            if batch.is_end {
                return events;
            }
        }
    }

    /// The events of a topic.
    pub(crate) fn events_of_topic(&self, topic: &str) -> Vec<Event> {
        let mut events = self.events();
        events.retain(|event| event.topic.as_str() == topic);
        events
    }
}

/// Truncates a file and writes it, as `open(path, "w")` does.
pub(crate) fn write_into(path: &Path, bytes: &[u8]) {
    let disk = Disk::real();
    let file = disk
        .open(path, callosum_host::OpenHow::READ_WRITE_CREATE)
        .expect("the file can be opened");
    file.set_len(0).expect("it can be emptied");
    file.write_at(bytes, 0).expect("it can be written");
}

pub(crate) fn voice(name: &str) -> Author {
    Author::of(name.parse().expect("a name"))
}

/// Returns a command for a task with only a prompt.
pub(crate) fn task(id: &str, prompt: &str) -> Command {
    Command::Add(NewTask {
        id: id.to_owned(),
        prompt: prompt.to_owned(),
        ..NewTask::default()
    })
}

pub(crate) fn claim(id: &str) -> Command {
    Command::Claim {
        task: Some(id.to_owned()),
        anyway: false,
        fence: None,
    }
}

/// Returns the reason for which a command was rejected.
pub(crate) fn refused(done: Result<Vec<Event>, MeshError>) -> BoardError {
    match done {
        Err(MeshError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// Returns a command that completes a task.
pub(crate) fn complete(id: &str) -> Command {
    Command::Complete {
        task: id.to_owned(),
        result: Some("done".to_owned()),
        anyway: false,
        token: None,
    }
}

/// Sends a message of Claude Code's to Codex.
pub(crate) fn send(mesh: &mut Mesh, id: &str) {
    let order = Command::Send {
        id: id.to_owned(),
        to: "codex".parse().expect("a name"),
        content: "look".to_owned(),
        reply_to: None,
        ttl_seconds: None,
    };
    mesh.give(order, &voice("claude")).expect("it is sent");
}

/// Returns what this agent gets between two calls, and checks that all of it was recorded.
pub(crate) fn handed_over(mesh: &mut Mesh, voice: &Author, evidence: &str) -> Option<Digest> {
    let handed = mesh.hand_over(voice, evidence, |_| true);
    handed.expect("it can be noted")
}
