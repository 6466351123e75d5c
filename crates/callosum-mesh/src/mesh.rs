//! [`Mesh`]: the log and the board together, and every way in.

use std::path::{Path, PathBuf};

use callosum_host::{Clock, Disk, DiskError, Ids, LockError, OpenHow};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentName,
    board::{Board, Deed, Order, Refusal, Session},
    event::{Draft, Event, Fault, Faults},
    journal::{Cursor, Durability, Journal, JournalError, Notice, Turn},
    route::Matrix,
    sessions::ended,
};

/// The file that remembers the board, so that the log need not be read from its beginning.
const BOARD: &str = "board.json";

/// Its version.
const FORMAT: u32 = 1;

/// So many events after the last time the board is remembered again.
const REMEMBER_AFTER: u64 = 256;

/// Events that are read at once.
const BATCH: usize = 1024;

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voice {
    /// The agent.
    pub agent: AgentName,
    /// Its own session.
    pub session_id: Option<String>,
    /// The terminal that it is in.
    pub pane_id: Option<String>,
    /// The folder that it is in.
    pub cwd: Option<String>,
}

impl Voice {
    /// An agent of which nothing else is known.
    pub fn of(agent: AgentName) -> Self {
        Self {
            agent,
            session_id: None,
            pane_id: None,
            cwd: None,
        }
    }
}

/// The log of a machine and the board that follows from it.
#[derive(Debug)]
pub struct Mesh {
    disk: Disk,
    folder: PathBuf,
    machine: String,
    journal: Journal,
    board: Board,
    matrix: Matrix,
    /// The last event of the board that the file remembers.
    remembered: u64,
}

/// The board as it is remembered.
#[derive(Deserialize, Serialize)]
struct Remembered {
    format: u32,
    origin: String,
    board: Board,
}

impl Mesh {
    /// Opens the mesh in `folder`, which is made where it is missing, on the machine that is named
    /// `machine` in its events.
    pub fn open(
        disk: &Disk,
        clock: &Clock,
        ids: &Ids,
        folder: &Path,
        machine: &str,
    ) -> Result<Self, MeshError> {
        let journal = Journal::open(disk, clock, ids, folder, machine)?;
        let mut mesh = Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
            machine: machine.to_owned(),
            journal,
            board: Board::default(),
            matrix: Matrix::default(),
            remembered: 0,
        };
        if let Some(board) = mesh.recall()? {
            mesh.remembered = board.seq;
            mesh.board = board;
        }
        Ok(mesh)
    }

    /// The same, where others do what than in the seed's matrix.
    #[must_use]
    pub fn with_matrix(self, matrix: Matrix) -> Self {
        Self { matrix, ..self }
    }

    /// The log.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Who does what.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How things stand now: reads what was appended since it was last asked.
    pub fn board(&mut self) -> Result<&Board, MeshError> {
        let mut reader = self.journal.read_after(&Cursor {
            origin: Some(self.journal.origin().to_owned()),
            seq: self.board.seq,
        });
        catch_up(&mut self.board, &mut reader)?;
        self.remember()?;
        Ok(&self.board)
    }

    /// Does what somebody wants done, and says what was appended for it; nothing where it was so
    /// already. It is synced: who is told that it is done has it also after a loss of power.
    pub fn give(&mut self, order: Order, voice: &Voice) -> Result<Vec<Event>, MeshError> {
        self.in_turn(|orders| orders.give(order, voice, None))
    }

    /// Appends an event that came from elsewhere. One that means the board is an order, and is refused where
    /// that cannot be.
    pub fn publish(
        &mut self,
        draft: Draft,
        durability: Durability,
    ) -> Result<Vec<Event>, MeshError> {
        let order = ordered(&draft, &self.journal)?;
        let Some(order) = order else {
            let mut turn = self.journal.turn()?;
            let events = turn.append(vec![draft])?;
            turn.end(durability)?;
            return Ok(events);
        };
        let voice = Voice {
            agent: draft.source,
            session_id: draft.session_id,
            pane_id: draft.pane_id,
            cwd: draft.cwd,
        };
        self.in_turn(|orders| orders.give(order, &voice, draft.timestamp))
    }

    /// Does what is due by itself: claims and leases of those who are gone, claims that have run out, and
    /// tasks that were not begun in time. Cheap where nothing is: nobody is waited for then.
    pub fn settle(&mut self) -> Result<(), MeshError> {
        self.board()?;
        let now = self.journal.now();
        let is_due = !self.board.run_out(now).is_empty()
            || !self.matrix.overdue(&self.board, now).is_empty()
            || ended(&self.board, &self.machine).next().is_some();
        if is_due {
            self.in_turn(|_| Ok(()))
        } else {
            Ok(())
        }
    }

    /// Whether this process may write here: in an agent's sandbox it may not. Opens the lock, which is made where
    /// it is missing.
    pub fn is_writable(&self) -> Result<bool, MeshError> {
        let path = self.journal.lock_path();
        match self
            .disk
            .open(&path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))
        {
            Ok(_) => Ok(true),
            Err(error) if is_unwritable(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The machine that it is on, as its events name it.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Decides any number of orders in one turn, in which nobody else appends; then all is synced
    /// at once.
    pub(crate) fn in_turn<T>(
        &mut self,
        act: impl FnOnce(&mut Orders<'_, '_>) -> Result<T, MeshError>,
    ) -> Result<T, MeshError> {
        self.in_turn_of(Durability::Synced, act)
    }

    /// The same, with another durability.
    pub(crate) fn in_turn_of<T>(
        &mut self,
        durability: Durability,
        act: impl FnOnce(&mut Orders<'_, '_>) -> Result<T, MeshError>,
    ) -> Result<T, MeshError> {
        let turn = self.journal.turn()?;
        let mut orders = Orders {
            board: &mut self.board,
            turn,
        };
        orders.catch_up()?;
        let now = orders.turn.now();
        orders.end_sessions(self.machine.as_str())?;
        let overdue = self.matrix.overdue(orders.board, now);
        for deed in orders.board.run_out(now).into_iter().chain(overdue) {
            orders.append(&deed, &Voice::of(us()), None)?;
        }
        let done = act(&mut orders);
        orders.turn.end(durability)?;
        self.remember()?;
        done
    }

    fn recall(&self) -> Result<Option<Board>, MeshError> {
        let Some(bytes) = self.disk.read_if_there(&self.folder.join(BOARD))? else {
            return Ok(None);
        };
        // Derived: what cannot be read is made anew from the log.
        let remembered = serde_json::from_slice::<Remembered>(&bytes).ok();
        let remembered = remembered.filter(|remembered| {
            remembered.format == FORMAT && remembered.origin == self.journal.origin()
        });
        Ok(remembered.map(|remembered| remembered.board))
    }

    fn remember(&mut self) -> Result<(), MeshError> {
        if self.board.seq < self.remembered + REMEMBER_AFTER {
            return Ok(());
        }
        let remembered = Remembered {
            format: FORMAT,
            origin: self.journal.origin().to_owned(),
            board: self.board.clone(),
        };
        let bytes = serde_json::to_vec(&remembered).unwrap_or_default();
        let path = self.folder.join(BOARD);
        match self.disk.replace_unsynced(&path, &bytes, 0o600) {
            Ok(()) => self.remembered = self.board.seq,
            // Derived: who may only read goes on without.
            Err(error) if is_unwritable(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// A turn in which orders are decided, each on the board that the last has left.
pub(crate) struct Orders<'b, 'j> {
    board: &'b mut Board,
    turn: Turn<'j>,
}

impl Orders<'_, '_> {
    fn catch_up(&mut self) -> Result<(), MeshError> {
        let mut reader = self.turn.read_after(&Cursor {
            origin: Some(self.turn.origin().to_owned()),
            seq: self.board.seq,
        });
        catch_up(self.board, &mut reader)
    }

    pub(crate) fn board(&self) -> &Board {
        self.board
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.turn.now()
    }

    pub(crate) fn give(
        &mut self,
        order: Order,
        voice: &Voice,
        at: Option<Timestamp>,
    ) -> Result<Vec<Event>, MeshError> {
        let deeds = self.board.decide(order, voice, self.turn.now())?;
        let mut events = Vec::new();
        for deed in deeds {
            events.extend(self.append(&deed, voice, at)?);
        }
        Ok(events)
    }

    /// Tells of the sessions whose processes have ended, and gives back what they left.
    fn end_sessions(&mut self, machine: &str) -> Result<(), MeshError> {
        let ended: Vec<Session> = ended(self.board, machine).cloned().collect();
        for session in ended {
            self.end_session(&session, "its process has ended")?;
        }
        Ok(())
    }

    pub(crate) fn append(
        &mut self,
        deed: &Deed,
        voice: &Voice,
        at: Option<Timestamp>,
    ) -> Result<Vec<Event>, MeshError> {
        let draft = Draft {
            timestamp: at,
            session_id: voice.session_id.clone(),
            pane_id: voice.pane_id.clone(),
            cwd: voice.cwd.clone(),
            ..deed.draft(&voice.agent)
        };
        self.tell(draft)
    }

    /// Appends an event that changes nothing on the board, or one of which that was decided.
    pub(crate) fn tell(&mut self, draft: Draft) -> Result<Vec<Event>, MeshError> {
        let events = self.turn.append(vec![draft])?;
        for event in &events {
            self.board.apply(event);
        }
        Ok(events)
    }
}

fn catch_up(board: &mut Board, reader: &mut crate::journal::Reader) -> Result<(), MeshError> {
    loop {
        let batch = reader.next_batch(BATCH)?;
        if batch
            .notices
            .iter()
            .any(|notice| matches!(notice, Notice::Reset { .. }))
        {
            *board = Board::default();
        }
        if batch.events.is_empty() {
            return Ok(());
        }
        for event in &batch.events {
            board.apply(event);
        }
    }
}

/// Who says what the mesh does by itself.
pub(crate) fn us() -> AgentName {
    "callosum".parse().expect("it is a name")
}

/// What an event that came from elsewhere wants done to the board; `None` where it is about
/// something else.
fn ordered(draft: &Draft, journal: &Journal) -> Result<Option<Order>, MeshError> {
    const ABOUT: [&str; 5] = [
        "calc.task",
        "calc.message",
        "calc.discovery",
        "calc.lease",
        "calc.bridge",
    ];
    let topic = draft.topic.as_str();
    let is_about = ABOUT.iter().any(|about| {
        topic
            .strip_prefix(about)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
    });
    if !is_about {
        return Ok(None);
    }
    let mut payload = draft.payload.clone();
    if matches!(
        topic,
        "calc.task_handoff" | "calc.message" | "calc.discovery"
    ) {
        let id = draft.id.clone().unwrap_or_else(|| journal.new_id());
        payload.entry("id").or_insert_with(|| id.into());
    }
    if topic == "calc.task.claimed" {
        payload
            .entry("by")
            .or_insert_with(|| draft.source.as_str().into());
        payload.insert("until".to_owned(), journal.now().to_string().into());
    }
    if topic == "calc.lease.taken" {
        payload.insert("until".to_owned(), journal.now().to_string().into());
    }
    if topic == "calc.task.completed" {
        payload
            .entry("by")
            .or_insert_with(|| draft.source.as_str().into());
    }
    let tagged = serde_json::json!({ "type": topic, "payload": payload });
    let deed: Deed = serde_json::from_value(tagged).map_err(|error| {
        MeshError::Faults(Faults(vec![Fault {
            key: "payload".to_owned(),
            found: format!("not that of `{topic}`"),
            wanted: format!("as its page says: {error}"),
        }]))
    })?;
    Ok(Some(deed.into_order()))
}

impl MeshError {
    /// Whether who asked may only read, as in a sandbox.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Self::Disk(error)
            | Self::Journal(
                JournalError::Disk(error) | JournalError::Lock(LockError::Disk(error)),
            ) => is_unwritable(error),
            _ => false,
        }
    }
}

fn is_unwritable(error: &DiskError) -> bool {
    error.is_read_only() || error.is_denied()
}

/// Why the mesh did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The log cannot be read or appended to.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It may not be.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The event is not as it must be.
    #[error(transparent)]
    Faults(#[from] Faults),
}
