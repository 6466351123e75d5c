//! [`Mesh`]: the log and the board together, and every way in.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Clock, Disk, Ids, OpenHow};
use jiff::Timestamp;

use crate::{
    agent::AgentName,
    author::Author,
    board::{Board, Command, Effect, NewTask, Task},
    board_replay::{CatchUp, catch_up},
    board_snapshot::BoardSnapshots,
    event::{Draft, Event},
    ingest::is_about_board,
    journal::{Cursor, Durability, Journal, JournalError, LogEnd, Retention},
    mesh_error::{Decided, MeshError, Undecided, is_unwritable},
    presence::{Presence, PresenceSource},
    route::Matrix,
    session_end::ended,
    transaction::Transaction,
};

/// The log of a machine and the board that follows from it.
#[derive(Debug)]
pub struct Mesh {
    disk: Disk,
    folder: PathBuf,
    machine: String,
    journal: Journal,
    board: Board,
    matrix: Matrix,
    /// Shows which agents can work.
    presence: PresenceSource,
    /// The end of the log when the board was last brought up to it.
    tip: Option<LogEnd>,
    snapshots: BoardSnapshots,
    /// Events that no board knows, and that the log has dropped.
    lost: u64,
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
        let mut snapshots = BoardSnapshots::new(disk, folder, journal.origin());
        let board = snapshots.recall();
        Ok(Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
            machine: machine.to_owned(),
            journal,
            board,
            matrix: Matrix::default(),
            presence: PresenceSource::default(),
            tip: None,
            snapshots,
            lost: 0,
        })
    }

    /// The same with a matrix that says which agent does which kind of task.
    #[must_use]
    pub fn with_matrix(self, matrix: Matrix) -> Self {
        Self { matrix, ..self }
    }

    /// The same, which asks `presence` whether agents can begin their tasks.
    #[must_use]
    pub fn with_presence(self, presence: PresenceSource) -> Self {
        Self { presence, ..self }
    }

    /// Returns what was seen of the agents now.
    pub fn presence(&self) -> Presence {
        self.presence.look(self.journal.now())
    }

    /// The same, whose log keeps another amount.
    #[must_use]
    pub fn with_retention(self, retention: Retention) -> Self {
        Self {
            journal: self.journal.with_retention(retention),
            ..self
        }
    }

    /// Has others do what from now on.
    pub fn set_matrix(&mut self, matrix: Matrix) {
        self.matrix = matrix;
    }

    /// Returns the same mesh with a limit for all of its waits for others that append. Reads do not
    /// wait.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self {
            journal: self.journal.with_patience(patience),
            ..self
        }
    }

    /// The log.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The disk that it is on.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Syncs what any process has appended to the log.
    pub fn sync(&mut self) -> Result<(), MeshError> {
        Ok(self.journal.sync()?)
    }

    /// The last event that the remembered board knows; 0 where none is remembered, or one of another form.
    pub fn remembered(&self) -> u64 {
        self.snapshots.remembered()
    }

    /// So many events the board was made without, since the log has dropped them and nothing remembers what they changed.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the roles and routes of agents.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the current board: reads the events since the last call. If there are none, it costs
    /// a listing of a small folder and two looks at files.
    pub fn board(&mut self) -> Result<&Board, MeshError> {
        let tip = self.journal.tip()?;
        if self.tip.as_ref() == Some(&tip) {
            return Ok(&self.board);
        }
        let mut board = std::mem::take(&mut self.board);
        let caught = self.caught_up_or_kept(&mut board);
        // Where the log cannot be read, what is known stays, and is read on from the next time.
        self.board = board;
        self.tip = None;
        let caught = caught?;
        self.lost += caught.lost;
        self.snapshots.keep(&self.board, tip.first().unwrap_or(1));
        self.tip = Some(tip);
        self.snapshots.remember(&self.board);
        Ok(&self.board)
    }

    /// Executes a command and returns the events that were appended, or none if the board was in
    /// that state already. The events are synced: an acknowledged command survives a loss of power.
    pub fn give(&mut self, order: Command, voice: &Author) -> Result<Vec<Event>, MeshError> {
        self.in_turn(|orders| orders.give(order, voice, None))
    }

    /// Adds a task, unless an equivalent one exists. Returns the id of the task that is there then.
    ///
    /// Both happen in one turn: of any number of processes that add a task for the same purpose at
    /// a time, one does. If an equivalent one exists, nothing is locked.
    pub fn leave(
        &mut self,
        task: NewTask,
        is_equivalent: impl Fn(&Task) -> bool,
        voice: &Author,
    ) -> Result<String, MeshError> {
        let there = |board: &Board| {
            let there = board.tasks.iter().find(|task| is_equivalent(task));
            there.map(|task| task.id.clone())
        };
        if let Some(id) = there(self.board()?) {
            return Ok(id);
        }
        self.in_turn(|orders| {
            if let Some(id) = there(orders.board()) {
                return Ok(id);
            }
            let id = task.id.clone();
            orders.give(Command::Add(task), voice, None)?;
            Ok(id)
        })
    }

    /// Appends an event that came from elsewhere. An event about the board is a command, and is
    /// rejected if that is not allowed.
    ///
    /// An event that its author submitted under the same id before is returned as it is in the log.
    /// Another event under that id is rejected.
    pub fn publish(
        &mut self,
        draft: Draft,
        durability: Durability,
    ) -> Result<Vec<Event>, MeshError> {
        if !is_about_board(&draft.topic) {
            let mut turn = self.journal.turn()?;
            let mut lists = turn.append_lists(vec![vec![draft]])?;
            turn.end(durability)?;
            let list = lists.pop().unwrap_or_else(|| Ok(Vec::new()))?;
            return Ok(list.into_iter().map(|once| once.event).collect());
        }
        let events = self.in_turn(|orders| Ok(orders.hand_in(vec![draft])))?;
        let events = events.map_err(|undecided| undecided.error)?;
        Ok(events.into_iter().flatten().collect())
    }

    /// Appends lists of events that came from elsewhere in one turn, each list all or none, and
    /// syncs all at once. Events about the board are decided as in [`Mesh::publish`], each on the
    /// board that the last one left.
    ///
    /// Returns each event as it is in the log, even if it was submitted before under the same id,
    /// or `None` if it changed nothing. Fails as a whole if the log cannot be appended to or
    /// synced; nothing is acknowledged then.
    pub fn publish_lists(&mut self, lists: Vec<Vec<Draft>>) -> Result<Vec<Decided>, MeshError> {
        self.in_turn(|orders| {
            let mut done = Vec::with_capacity(lists.len());
            for list in lists {
                done.push(match orders.hand_in(list) {
                    // After this the end of the log is not known.
                    Err(Undecided {
                        error: MeshError::Journal(error @ JournalError::Disk(_)),
                        ..
                    }) => return Err(error.into()),
                    answer => answer,
                });
            }
            Ok(done)
        })
    }

    /// Brings the board to the end of the log, by what was kept where what was remembered is of another log, as after a loss of power that
    /// took the end of this one, or as of an event that the log has dropped.
    fn caught_up_or_kept(&self, board: &mut Board) -> Result<CatchUp, MeshError> {
        let caught = self.caught_up(board)?;
        if (caught.is_rebuilt || caught.lost > 0)
            && let Some(mut kept) = self.snapshots.kept_board()
        {
            let again = self.caught_up(&mut kept)?;
            if !again.is_rebuilt && again.lost <= caught.lost {
                *board = kept;
                return Ok(again);
            }
        }
        Ok(caught)
    }

    /// Brings a board up to the log.
    fn caught_up(&self, board: &mut Board) -> Result<CatchUp, MeshError> {
        let mut reader = self.journal.read_after(&Cursor {
            origin: Some(self.journal.origin().to_owned()),
            seq: board.seq,
        });
        Ok(catch_up(board, &mut reader)?)
    }

    /// Whether the log is still the one that was opened: someone may have removed its folder.
    pub fn is_in_place(&self) -> Result<bool, MeshError> {
        Ok(self.journal.is_own()?)
    }

    /// The last event that the board knows, without a look at what was appended since.
    pub(crate) fn known_seq(&self) -> u64 {
        self.board.seq
    }

    fn due(&self, now: Timestamp) -> Vec<Effect> {
        due(&self.board, &self.matrix, &self.presence, now)
    }

    /// Applies what is due by itself: claims and leases of ended sessions, expired claims, tasks
    /// that were not begun in time, and messages that were not delivered in time. Locks nothing if
    /// nothing is due.
    pub fn settle(&mut self) -> Result<(), MeshError> {
        self.board()?;
        let now = self.journal.now();
        let is_due =
            !self.due(now).is_empty() || ended(&self.board, &self.machine).next().is_some();
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

    /// Decides any number of commands in one turn, in which no one else appends. Then syncs all at
    /// once.
    pub(crate) fn in_turn<T>(
        &mut self,
        act: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T, MeshError>,
    ) -> Result<T, MeshError> {
        self.in_turn_of(Durability::Synced, act)
    }

    /// The same, with another durability.
    pub(crate) fn in_turn_of<T>(
        &mut self,
        durability: Durability,
        act: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T, MeshError>,
    ) -> Result<T, MeshError> {
        self.board()?;
        let turn = self.journal.turn()?;
        let mut orders = Transaction {
            board: &mut self.board,
            turn,
            matrix: &self.matrix,
        };
        orders.catch_up()?;
        let now = orders.turn.now();
        orders.end_sessions(self.machine.as_str())?;
        for deed in due(orders.board, &self.matrix, &self.presence, now) {
            orders.append(&deed, &Author::of(AgentName::us()), None)?;
        }
        let done = act(&mut orders);
        orders.turn.end(durability)?;
        self.snapshots.remember(&self.board);
        done
    }
}

/// Returns the effects that are due by now.
fn due(board: &Board, matrix: &Matrix, presence: &PresenceSource, now: Timestamp) -> Vec<Effect> {
    let mut deeds = board.run_out(now);
    if matrix.has_waiting(board) {
        let overdue = matrix.overdue(board, now);
        let forfeited = matrix.forfeited(board, &presence.look(now), now);
        let task_of = |deed: &Effect| match deed {
            Effect::TaskChanged { task, .. } => Some(task.clone()),
            _ => None,
        };
        let late: Vec<_> = overdue.iter().map(task_of).collect();
        let forfeited = forfeited.into_iter();
        deeds.extend(forfeited.filter(|deed| !late.contains(&task_of(deed))));
        deeds.extend(overdue);
    }
    deeds.extend(board.expired(now));
    deeds
}
