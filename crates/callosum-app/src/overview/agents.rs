//! The agents of an overview: those in terminals, and the sessions that only the mesh knows.

use callosum_host::process::Identity;
use callosum_mesh::agent::AgentName;
use callosum_mesh::board::{Board, Session, Task};
use callosum_panes::{HookEvent, Pane, Program, State, hook_event};
use jiff::{SignedDuration, Timestamp};

use super::argv::command;
use super::{AgentOutput, AgentTaskOutput, OverviewCommandOutput, age, beginning};
use crate::CommandError;
use crate::context::Context;
use crate::mesh::panes::{EvidenceOutput, Watcher};

/// Most agents in an overview.
const MOST: usize = 200;

/// Time for which a client that has ended is still listed.
const GONE: SignedDuration = SignedDuration::from_mins(10);

/// Returns the agents in terminals: from the registry if another process keeps it, else by one look.
///
/// One look is enough here: a second one for certainty, as `callosum mesh panes` takes it, costs a quarter of a second.
pub(super) fn panes(
    context: &Context,
    watcher: &mut Option<Watcher>,
    now: Timestamp,
) -> Result<Vec<Pane>, CommandError> {
    let watcher = match watcher {
        Some(watcher) => watcher,
        None => watcher.insert(Watcher::open(context)?),
    };
    let registry = watcher.look_or_read(now)?;
    // Notices by escape sequence are for a terminal that shows the panes as lines. They would pile up here.
    drop(watcher.terminal_notices());
    Ok(registry.panes)
}

/// Returns the agents in terminals, then sessions of the mesh whose process runs and that are in no terminal.
pub(super) fn listed(
    context: &Context,
    panes: &[Pane],
    board: Option<&Board>,
    now: Timestamp,
) -> Vec<AgentOutput> {
    let sessions: Vec<&Session> = board
        .iter()
        .flat_map(|board| &board.sessions)
        .filter(|session| is_running(session))
        .collect();
    let is_listed = |pane: &&Pane| {
        let is_over = pane.state == State::SessionEnded || pane.status != "active";
        !is_over || now.duration_since(pane.since) <= GONE
    };
    let mut agents: Vec<AgentOutput> = Vec::new();
    for pane in panes.iter().filter(is_listed) {
        let session = sessions.iter().find(|session| is_in(session, pane));
        let mut agent = of_pane(pane, session.copied(), now);
        agent.task = board.and_then(|board| task_of(board, &agent, now));
        agents.push(agent);
    }
    let others: Vec<&&Session> = sessions
        .iter()
        .filter(|session| !panes.iter().any(|pane| is_in(session, pane)))
        .collect();
    if !others.is_empty() {
        let events = hook_event::read_all(&context.disk, &context.project.homes.hook_events());
        for session in others {
            let event = events
                .iter()
                .find(|event| event.session_id == session.session_id);
            let mut agent = of_session(session, event, now);
            agent.task = board.and_then(|board| task_of(board, &agent, now));
            agents.push(agent);
        }
    }
    agents.truncate(MOST);
    agents
}

fn is_running(session: &Session) -> bool {
    let process = session.process.map(Identity::from);
    process.is_some_and(|process| !process.has_ended())
}

fn is_in(session: &Session, pane: &Pane) -> bool {
    let pid = session.process.map(|process| process.pid);
    pid == Some(pane.pid) || pane.session_id.as_deref() == Some(&session.session_id)
}

fn of_pane(pane: &Pane, session: Option<&Session>, now: Timestamp) -> AgentOutput {
    let session_id = pane.session_id.clone();
    let session_id = session_id.or_else(|| Some(session?.session_id.clone()));
    let name = pane.mesh_agent().unwrap_or(&pane.agent);
    let name = address(name, session_id.as_deref());
    let mut commands = vec![command(
        "explain",
        &["mesh", "panes", "--explain", &pane.pane],
    )];
    commands.extend(message_to(&name));
    AgentOutput {
        client: pane.agent.clone(),
        pane: Some(pane.pane.clone()),
        pid: Some(pane.pid),
        state: pane.state.name().to_owned(),
        detail: pane.detail.as_deref().map(beginning),
        evidence: pane.evidence.iter().map(EvidenceOutput::of).collect(),
        since: Some(pane.since.to_string()),
        age_seconds: Some(age(pane.since, now)),
        session_id,
        project: pane.project.clone(),
        folder: pane.cwd.as_ref().map(|cwd| cwd.display().to_string()),
        last_prompt: pane.last_prompt.clone(),
        resets_at: pane.resets_at.map(|time| time.to_string()),
        task: None,
        budget: None,
        commands,
        name,
    }
}

/// Returns a session that runs in no terminal that was found, with the state that its last hook shows.
fn of_session(session: &Session, event: Option<&HookEvent>, now: Timestamp) -> AgentOutput {
    let agent = session.agent.as_str();
    let program = Program::ALL
        .into_iter()
        .find(|program| program.agent() == agent);
    let client = program.map_or_else(|| agent.to_owned(), |program| program.short().to_owned());
    let name = address(agent, Some(&session.session_id));
    let evidence = match event {
        Some(event) => EvidenceOutput {
            signal: "hook".to_owned(),
            rule: event.event.clone(),
            text: String::new(),
        },
        None => EvidenceOutput {
            signal: "process".to_owned(),
            rule: "session.start".to_owned(),
            text: "its process runs".to_owned(),
        },
    };
    let folder = event.and_then(|event| event.cwd.as_ref());
    AgentOutput {
        client,
        pane: None,
        pid: session.process.map(|process| process.pid),
        state: event
            .map_or(State::Unknown, |event| event.state)
            .name()
            .to_owned(),
        detail: None,
        evidence: vec![evidence],
        since: event.map(|event| event.at.to_string()),
        age_seconds: event.map(|event| age(event.at, now)),
        session_id: Some(session.session_id.clone()),
        project: folder.and_then(|folder| {
            let name = folder.file_name()?;
            Some(name.to_string_lossy().into_owned())
        }),
        folder: folder.map(|folder| folder.display().to_string()),
        last_prompt: event.and_then(|event| event.last_prompt.clone()),
        resets_at: None,
        task: None,
        budget: None,
        commands: message_to(&name).into_iter().collect(),
        name,
    }
}

/// Returns the name under which messages reach one session, or the agent if its session is unknown.
fn address(agent: &str, session: Option<&str>) -> String {
    match session {
        Some(session) => format!("{agent}@{session}"),
        None => agent.to_owned(),
    }
}

/// Returns the command that reads a message from standard input and sends it; `None` for an agent that the mesh cannot name.
fn message_to(name: &str) -> Option<OverviewCommandOutput> {
    let agent = name.split('@').next().unwrap_or(name);
    agent.parse::<AgentName>().ok()?;
    Some(command(
        "message",
        &["mesh", "message", "send", "--", name, "-"],
    ))
}

/// Returns the task that an agent has claimed: of its session, or of no known one if the agent's own is unknown.
fn task_of(board: &Board, agent: &AgentOutput, now: Timestamp) -> Option<AgentTaskOutput> {
    let name = agent.name.split('@').next()?;
    let is_theirs = |task: &&Task| {
        task.claim_at(now).is_some_and(|claim| {
            let is_session = match (&claim.session_id, &agent.session_id) {
                (Some(claimed), Some(own)) => claimed == own,
                (None, _) => true,
                (Some(_), None) => false,
            };
            claim.by.as_str() == name && is_session
        })
    };
    let task = board.tasks.iter().find(is_theirs)?;
    Some(AgentTaskOutput {
        id: task.id.clone(),
        prompt: beginning(&task.prompt),
    })
}
