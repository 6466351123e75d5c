//! Claims on shared tasks: the server is asked before the board of this machine changes.
//!
//! Start with `Gate::pass`. A task that no other machine sees costs nothing. Without a server a shared task is not claimed,
//! since two machines that cannot see each other would both have it. Who has a claim already may end it without a server: it
//! is in the log, and the server learns of it in the next round. If another machine has taken the task over by then, its
//! claim counts on all machines.

use callosum_config::FleetSetting;
use callosum_fleet::claims::{self, Acquired, Holder, Settled, State};
use callosum_fleet::{FleetError, Membership, Server, ServerError};
use callosum_mesh::board::{Board, BoardError, CLAIM, Command, Effect, Task};
use callosum_mesh::event::Event;
use callosum_mesh::{Author, Mesh, MeshError};

use super::{IS_BUILT_IN, connect, explain, member, not_built};
use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit};

/// The server, asked only if a task is shared.
pub(in crate::mesh) struct Gate<'c> {
    context: &'c Context,
    member: Option<(FleetSetting, Membership)>,
    server: Option<Box<dyn Server>>,
}

/// Order that may be given to the mesh now.
pub(in crate::mesh) struct Passed {
    /// The order, with its fencing token.
    pub(in crate::mesh) order: Command,
    /// The claim that was made at the server for it.
    acquired: Option<(String, u64)>,
}

impl<'c> Gate<'c> {
    pub(in crate::mesh) fn new(context: &'c Context) -> Self {
        Self {
            context,
            member: None,
            server: None,
        }
    }

    /// Asks the server for what an order needs.
    pub(in crate::mesh) fn pass(
        &mut self,
        mesh: &mut Mesh,
        order: Command,
        voice: &Author,
    ) -> Result<Passed, CommandError> {
        let board = mesh.board().map_err(|error| open::explain(&error))?;
        if !is_about_shared(board, &order) {
            return Ok(Passed {
                order,
                acquired: None,
            });
        }
        match order {
            Command::Claim {
                task: None, anyway, ..
            } => self.next(mesh, anyway, voice),
            Command::Claim {
                task: Some(task),
                anyway,
                fence: None,
            } => self.claim(mesh, task, anyway, voice),
            Command::Complete { ref task, .. } => {
                let task = task.clone();
                let now = mesh.journal().now();
                let board = mesh.board().map_err(|error| open::explain(&error))?;
                let decided = board.decide(order.clone(), voice, now);
                // A task is completed by who has it.
                if matches!(decided, Err(BoardError::Shared { .. })) {
                    let Passed { order, acquired } = self.claim(mesh, task, false, voice)?;
                    let claimed = mesh.give(order, voice).map(drop);
                    if let Err(error) = claimed {
                        self.undo(mesh, acquired);
                        return Err(open::explain(&error));
                    }
                }
                self.end(mesh, order, voice)
            }
            order => self.end(mesh, order, voice),
        }
    }

    /// Gives a claim back that the board of this machine did not accept after all.
    pub(in crate::mesh) fn failed(&mut self, mesh: &Mesh, passed: Option<(String, u64)>) {
        self.undo(mesh, passed);
    }

    fn undo(&mut self, mesh: &Mesh, acquired: Option<(String, u64)>) {
        if let (Some((task, fence)), Some(server)) = (acquired, &mut self.server) {
            let origin = mesh.journal().origin();
            // It ends by itself if this fails.
            drop(claims::settle(
                &mut **server,
                &task,
                origin,
                fence,
                State::Free,
            ));
        }
    }

    /// Claims the next task that this agent may begin, whether it is shared or not.
    fn next(
        &mut self,
        mesh: &mut Mesh,
        anyway: bool,
        voice: &Author,
    ) -> Result<Passed, CommandError> {
        let mut held: Vec<String> = Vec::new();
        let mut is_offline = false;
        loop {
            let now = mesh.journal().now();
            let board = mesh.board().map_err(|error| open::explain(&error))?;
            let is_wanted =
                |task: &Task| !(held.contains(&task.id) || is_offline && task.is_shared);
            let Some(next) = board.next_where(voice, now, is_wanted) else {
                if is_offline || !held.is_empty() {
                    let what = if is_offline {
                        "there is no task of this machine alone to claim, and shared tasks need the server"
                    } else {
                        "other machines have all shared tasks"
                    };
                    return Err(CommandError::new(Exit::No, what).hint("callosum mesh task list"));
                }
                return Err(open::explain(&BoardError::NothingToDo.into()));
            };
            let (task, is_shared) = (next.id.clone(), next.is_shared);
            if !is_shared {
                let order = Command::Claim {
                    task: Some(task),
                    anyway,
                    fence: None,
                };
                return Ok(Passed {
                    order,
                    acquired: None,
                });
            }
            match self.acquire(mesh, &task, voice) {
                Ok(Acquired::Token(fence)) => return Ok(passed(task, anyway, fence)),
                Ok(Acquired::Held(_) | Acquired::Over(_)) => held.push(task),
                Err(Failure::Offline(error)) => {
                    let what = format!("shared tasks are left out: {error}");
                    self.context
                        .report
                        .warn(&what, Some("callosum mesh fleet doctor"));
                    is_offline = true;
                }
                Err(Failure::Other(error)) => return Err(error),
            }
        }
    }

    fn claim(
        &mut self,
        mesh: &mut Mesh,
        task: String,
        anyway: bool,
        voice: &Author,
    ) -> Result<Passed, CommandError> {
        // A task that the board refuses for another reason is not claimed first.
        let now = mesh.journal().now();
        let order = Command::Claim {
            task: Some(task.clone()),
            anyway,
            fence: Some(u64::MAX),
        };
        let board = mesh.board().map_err(|error| open::explain(&error))?;
        board
            .decide(order, voice, now)
            .map_err(|error| open::explain(&error.into()))?;
        match self.acquire(mesh, &task, voice) {
            Ok(Acquired::Token(fence)) => Ok(passed(task, anyway, fence)),
            Ok(Acquired::Held(holder)) => {
                let Holder { names, agent, .. } = holder;
                let what = format!("task `{task}` is claimed by {agent} of {names}");
                Err(CommandError::new(Exit::No, what).hint("callosum mesh task list"))
            }
            Ok(Acquired::Over(state)) => {
                let how = if state == State::Complete {
                    "complete"
                } else {
                    "canceled"
                };
                let what = format!("task `{task}` is {how}");
                Err(CommandError::new(Exit::No, what).hint("callosum mesh fleet sync"))
            }
            Err(Failure::Offline(error)) => {
                let what = format!(
                    "task `{task}` is shared with other machines, and is not claimed without the server"
                );
                let failure = CommandError::because(Exit::Environment, what, &error);
                Err(failure.hint("callosum mesh fleet doctor"))
            }
            Err(Failure::Other(error)) => Err(error),
        }
    }

    /// Ends a claim at the server before it ends in the log.
    fn end(
        &mut self,
        mesh: &mut Mesh,
        order: Command,
        voice: &Author,
    ) -> Result<Passed, CommandError> {
        let now = mesh.journal().now();
        let board = mesh.board().map_err(|error| open::explain(&error))?;
        let effects = board.decide(order.clone(), voice, now);
        // The mesh refuses it again, and explains why.
        let effects = effects.unwrap_or_default();
        let origin = mesh.journal().origin().to_owned();
        for effect in effects {
            let (task, fence, state) = match effect {
                Effect::TaskCompleted {
                    task,
                    fence: Some(fence),
                    ..
                } => (task, fence, State::Complete),
                Effect::TaskReleased {
                    task,
                    fence: Some(fence),
                    ..
                } => (task, fence, State::Free),
                _ => continue,
            };
            let settled = self.server(mesh).and_then(|server| {
                let settled = claims::settle(server, &task, &origin, fence, state);
                settled.map_err(failure)
            });
            match settled {
                Ok(Settled::Done) => {}
                Ok(Settled::Lost(holder)) => {
                    let by =
                        holder.map(|Holder { names, agent, .. }| format!(" by {agent} of {names}"));
                    let what = format!(
                        "the claim on task `{task}` ended, and it was taken over{}",
                        by.unwrap_or_default()
                    );
                    return Err(CommandError::new(Exit::No, what).hint("callosum mesh fleet sync"));
                }
                Err(Failure::Offline(error)) => {
                    let what = format!("logged on this machine only: {error}");
                    self.context
                        .report
                        .warn(&what, Some("callosum mesh fleet sync"));
                }
                Err(Failure::Other(error)) => return Err(error),
            }
        }
        Ok(Passed {
            order,
            acquired: None,
        })
    }

    fn acquire(
        &mut self,
        mesh: &mut Mesh,
        task: &str,
        voice: &Author,
    ) -> Result<Acquired, Failure> {
        let board = mesh.board().map_err(|error| open::explain(&error));
        let board = board.map_err(Failure::Other)?;
        let known = board.task(task);
        let fence = known.map_or(0, |task| task.fence);
        // A claim that ended here; the server does not know that yet.
        let is_ended = known.is_some_and(|task| task.claim.is_none());
        self.server(mesh)?;
        let (_, membership) = self
            .member
            .as_ref()
            .ok_or_else(|| Failure::Other(not_built()))?;
        let holder = Holder {
            origin: membership.origin.clone(),
            names: membership.names.clone(),
            agent: voice.agent.to_string(),
            session_id: voice.session_id.clone(),
        };
        let server = self.server.as_deref_mut();
        let server = server.ok_or_else(|| Failure::Other(not_built()))?;
        claims::acquire(server, task, &holder, fence, is_ended, CLAIM).map_err(failure)
    }

    fn server(&mut self, mesh: &Mesh) -> Result<&mut (dyn Server + 'static), Failure> {
        if !IS_BUILT_IN {
            return Err(Failure::Other(not_built()));
        }
        if self.server.is_none() {
            let (setting, membership) = member(self.context, mesh).map_err(Failure::Other)?;
            let server = connect::connect(&setting, &membership, false).map_err(failure)?;
            self.member = Some((setting, membership));
            self.server = Some(server);
        }
        let server = self.server.as_deref_mut();
        server.ok_or_else(|| Failure::Other(not_built()))
    }
}

/// Reason that the server gives no answer.
enum Failure {
    /// It cannot be reached, or cannot do what it is there for, as with a full disk.
    Offline(ServerError),
    Other(CommandError),
}

fn failure(error: ServerError) -> Failure {
    match error {
        ServerError::Unreachable { .. } | ServerError::Failed { .. } => Failure::Offline(error),
        error => Failure::Other(explain(&FleetError::from(error))),
    }
}

fn passed(task: String, anyway: bool, fence: u64) -> Passed {
    Passed {
        order: Command::Claim {
            task: Some(task.clone()),
            anyway,
            fence: Some(fence),
        },
        acquired: Some((task, fence)),
    }
}

/// Whether an order is about a task that other machines see.
fn is_about_shared(board: &Board, order: &Command) -> bool {
    let named = match order {
        Command::Claim { task: None, .. } => {
            return board.tasks.iter().any(|task| task.is_shared);
        }
        Command::Claim {
            task: Some(task), ..
        }
        | Command::Release { task, .. }
        | Command::Complete { task, .. } => task,
        _ => return false,
    };
    board.task(named).is_some_and(|task| task.is_shared)
}

/// Gives an order, after the server was asked for what it needs.
pub(in crate::mesh) fn give(
    context: &Context,
    mesh: &mut Mesh,
    order: Command,
    voice: &Author,
) -> Result<Result<Vec<Event>, MeshError>, CommandError> {
    let mut gate = Gate::new(context);
    let Passed { order, acquired } = gate.pass(mesh, order, voice)?;
    let given = mesh.give(order, voice);
    if given.is_err() {
        gate.failed(mesh, acquired);
    }
    Ok(given)
}
