//! The mesh checks of `doctor`: its log and lock, what follows from the log, the bridge file, the
//! daemon, what waits, and what is configured.
//!
//! Nothing is repaired: nothing is appended, and the bridge file is left as it is. Whether clients'
//! hooks ask for the mesh is reported with their sessions.

use std::path::Path;
use std::time::Duration;

use callosum_config::{PageSetting, PageSettingError, SinkSetting, user_faults};
use callosum_daemon::{Serving, SinkStatus, running};
use callosum_host::disk::EntryKind;
use callosum_host::{DiskError, LockError, LockFile};
use callosum_mesh::agent::AgentName;
use callosum_mesh::board::{Board, Session, Status, Tally};
use callosum_mesh::bridge::{Bridge, Document};
use callosum_mesh::journal::{Condition, Journal};
use callosum_mesh::{Mesh, MeshError, mesh_store};
use callosum_redact::terminal_escape::on_one_line;
use jiff::Timestamp;

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::serve::elsewhere;
use crate::{CommandError, Exit, many, thousands};

/// Time that other processes may hold the lock before that is reported.
const PATIENCE: Duration = Duration::from_millis(300);

/// Brings the log, the board and the bridge file in line, and says what cannot be.
const MENDS: &str = "callosum mesh bridge";

/// Checks the mesh.
pub fn check(context: &Context, checks: &mut Checks) {
    check_configuration(context, checks);
    let folder = context.project.homes.mesh();
    let shown = on_one_line(&folder.display().to_string());
    match is_begun(context, &folder) {
        Ok(true) => {}
        Ok(false) => {
            let found = "none yet; any `callosum mesh` command creates it";
            return checks.add("mesh", Outcome::Ok, found, None);
        }
        Err(found) => {
            let hint = format!("mv {shown} {shown}.other");
            return checks.add("mesh", Outcome::Failed, found, Some(&hint));
        }
    }
    check_lock(context, checks, &folder);
    let opened = mesh_store::open(&context.disk, &context.clock, &context.ids, &folder);
    let looked = opened.and_then(|mut mesh| {
        check_log(checks, mesh.journal())?;
        check_board(context, checks, &mut mesh)?;
        check_notes(checks, &mesh)?;
        check_bridge(context, checks, &mut mesh)?;
        let ended = mesh.ended_sessions()?;
        let now = mesh.journal().now();
        let board = mesh.board()?;
        check_held(checks, board, &ended, now);
        check_waiting(context, checks, board, now);
        Ok(())
    });
    if let Err(error) = looked {
        let found = CommandError::from_error(Exit::No, &error).one_line();
        let origin = folder.join("origin");
        let hint = if error.path() == Some(origin.as_path()) {
            let shown = on_one_line(&origin.display().to_string());
            format!("mv {shown} {shown}.other")
        } else {
            format!("ls -lR {shown}")
        };
        checks.add("mesh, log", Outcome::Failed, found, Some(&hint));
    }
    check_daemon(context, checks, &folder);
}

/// Whether there is a mesh; the error describes what is in its place.
fn is_begun(context: &Context, folder: &Path) -> Result<bool, String> {
    let one_line = |error: &DiskError| CommandError::from_error(Exit::No, error).one_line();
    let found = context
        .disk
        .stat(folder)
        .map_err(|error| one_line(&error))?;
    match found.map(|found| found.kind) {
        Some(EntryKind::File | EntryKind::Other) => {
            Err(format!("{} is not a folder", folder.display()))
        }
        Some(EntryKind::Link) if context.disk.canonicalize(folder).is_err() => Err(format!(
            "{} is a symbolic link to a missing folder",
            folder.display()
        )),
        Some(EntryKind::Folder | EntryKind::Link) | None => {
            let origin = mesh_store::is_begun(&context.disk, folder);
            origin.map_err(|error| one_line(&error))
        }
    }
}

/// Checks the configuration of the mesh, and the sinks that events are passed on to.
fn check_configuration(context: &Context, checks: &mut Checks) {
    const NAME: &str = "mesh, configuration";
    let homes = &context.project.homes;
    let hint = format!(
        "${{EDITOR:-vi}} {}",
        on_one_line(&homes.user_config.display().to_string())
    );
    let faults = user_faults(&context.disk, homes, &context.environment);
    let sinks = SinkSetting::read_all(&context.disk, homes, &context.environment);
    let sinks = sinks.unwrap_or_default();
    for fault in &faults {
        checks.add(NAME, Outcome::Failed, on_one_line(fault), Some(&hint));
    }
    for sink in sinks.iter().filter(|sink| sink.address.is_none()) {
        let found = format!(
            "sink {}: ${} is not set here, so a daemon started here sends it nothing",
            sink.name, sink.variable
        );
        let hint = format!("export {}=https://…", sink.variable);
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
    }
    let page = PageSetting::read(&context.disk, homes, &context.environment);
    let page_without_token = match page {
        Err(PageSettingError::Unset { variable, .. }) => Some(variable),
        _ => None,
    };
    if let Some(variable) = &page_without_token {
        let variable = on_one_line(variable);
        let found =
            format!("page: ${variable} is not set here, so a daemon started here answers no proxy");
        let hint = format!("export {variable}=TOKEN");
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
    }
    if faults.is_empty()
        && page_without_token.is_none()
        && sinks.iter().all(|sink| sink.address.is_some())
    {
        let found = match sinks.len() {
            0 => "ok, no event sinks configured".to_owned(),
            count => format!("ok, {}", many(count as u64, "sink")),
        };
        checks.add(NAME, Outcome::Ok, found, None);
    }
}

fn check_lock(context: &Context, checks: &mut Checks, folder: &Path) {
    const NAME: &str = "mesh, lock";
    let path = folder.join("events.lock");
    let shown = on_one_line(&path.display().to_string());
    match LockFile::private().acquire(&context.disk, &path, PATIENCE) {
        Ok(_) => checks.add(NAME, Outcome::Ok, "free", None),
        Err(error @ LockError::Timeout { .. }) => {
            let found = format!("{error}: other processes cannot append until it is free");
            let hint = format!("fuser -v {shown}");
            checks.add(NAME, Outcome::Warning, found, Some(&hint));
        }
        Err(LockError::Disk(error)) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            let hint = format!("ls -ld {shown}");
            checks.add(NAME, Outcome::Failed, found, Some(&hint));
        }
    }
}

fn check_log(checks: &mut Checks, journal: &Journal) -> Result<(), MeshError> {
    const NAME: &str = "mesh, log";
    let Condition {
        files,
        bytes,
        events,
        damaged,
        is_torn,
    } = journal.condition()?;
    let torn = if is_torn {
        "; the last line is incomplete and was never acknowledged; the next event ends it"
    } else {
        ""
    };
    let found = format!(
        "{}, {} KB in {}{torn}",
        many(events, "event"),
        thousands(bytes.div_ceil(1024)),
        many(files as u64, "file")
    );
    checks.add(NAME, Outcome::Ok, found, None);
    if let Some((count, path)) = damaged {
        let path = on_one_line(&path.display().to_string());
        let found = format!(
            "{} that {} no event, skipped: cut off when a process died, or edited; the first is in {path}",
            many(count, "line"),
            if count == 1 { "is" } else { "are" },
        );
        let hint = format!("grep -nv '^{{\"seq\":' {path}");
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
    }
    Ok(())
}

/// The board that is remembered, so that the log need not be read from its beginning.
fn check_board(context: &Context, checks: &mut Checks, mesh: &mut Mesh) -> Result<(), MeshError> {
    const NAME: &str = "mesh, board";
    let path = mesh.folder().join("board.json");
    let remembered = mesh.remembered();
    let last = mesh.board()?.seq;
    let lost = mesh.lost();
    if lost > 0 {
        let found = format!(
            "it is rebuilt from the log alone, and {} that the log dropped {} in no snapshot: tasks and \
             messages may be missing",
            many(lost, "event"),
            if lost == 1 { "is" } else { "are" },
        );
        checks.add(
            NAME,
            Outcome::Warning,
            found,
            Some("callosum mesh task list --all"),
        );
    }
    if remembered == 0 && context.disk.exists(&path)? {
        let found = "board snapshot has an unknown format and is ignored; replaying the log";
        let path = on_one_line(&path.display().to_string());
        let hint = format!("mv {path} {path}.other");
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
    } else {
        checks.add(NAME, Outcome::Ok, format!("as of event {last}"), None);
    }
    Ok(())
}

/// Checks the folders for the notes of what agents were shown.
fn check_notes(checks: &mut Checks, mesh: &Mesh) -> Result<(), MeshError> {
    for path in mesh.no_folders()? {
        let path = on_one_line(&path.display().to_string());
        let found = format!(
            "{path} is not a folder: news for active agents cannot be recorded and is delayed"
        );
        let hint = format!("mv {path} {path}.other");
        checks.add("mesh, notes", Outcome::Warning, found, Some(&hint));
    }
    Ok(())
}

fn check_bridge(context: &Context, checks: &mut Checks, mesh: &mut Mesh) -> Result<(), MeshError> {
    const NAME: &str = "mesh, bridge file";
    let bridge = Bridge::of(&context.disk, mesh);
    let path = on_one_line(&bridge.path().display().to_string());
    let found = context.disk.stat(bridge.path())?;
    if found.is_some_and(|found| found.kind != EntryKind::File) {
        let found = format!("{path} is not a regular file, so it is neither read nor written");
        let hint = format!("mv {path} {path}.other");
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
        return Ok(());
    }
    if let Some(link) = bridge.lost_link()? {
        let link = on_one_line(&link.display().to_string());
        let found = format!(
            "{link} is a link that leads to no folder: the bridge file is not synced with the log"
        );
        let hint = format!("ls -l {link}");
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
        return Ok(());
    }
    let (in_the_way, displaced) = bridge.in_the_way()?;
    for other in in_the_way {
        let other = on_one_line(&other.display().to_string());
        let found = format!(
            "{other} is in the place of one of Callosum's files: the next command or hook moves it aside"
        );
        checks.add(NAME, Outcome::Warning, found, Some(MENDS));
    }
    if let Some(first) = displaced.first() {
        let first = on_one_line(&first.display().to_string());
        let found = format!(
            "{first} was in the place of one of Callosum's files and was moved there, {} in all",
            many(displaced.len() as u64, "such file")
        );
        checks.add(
            NAME,
            Outcome::Warning,
            found,
            Some(&format!("ls -ld {first}")),
        );
    }
    let (added, strays) = bridge.waiting()?;
    if !added.is_empty() {
        let found = format!("{} not applied yet", many(added.len() as u64, "addition"));
        checks.add(NAME, Outcome::Warning, found, Some(MENDS));
    }
    if let Some(first) = strays.first() {
        let shown = on_one_line(&first.path.display().to_string());
        let others = match strays.len() - 1 {
            0 => String::new(),
            count => format!(", nor are {count} more"),
        };
        let found = format!(
            "{shown} {} and is never applied{others}: only .json files in {} and its direct subfolders are",
            first.why,
            on_one_line(&bridge.drop_ins().display().to_string())
        );
        let hint = format!(
            "ls -lR {}",
            on_one_line(&bridge.drop_ins().display().to_string())
        );
        checks.add(NAME, Outcome::Warning, found, Some(&hint));
    }
    let Some(bytes) = context.disk.read_if_there(bridge.path())? else {
        checks.add(NAME, Outcome::Ok, "none yet", Some(MENDS));
        return Ok(());
    };
    let board = mesh.board()?;
    match Document::read(&bytes) {
        Err(error) => {
            let found = format!("not applied: {error}");
            checks.add(NAME, Outcome::Warning, on_one_line(&found), Some(MENDS));
        }
        Ok(_) if Document::of(board).to_bytes() == bytes => {
            let found = format!("matches the log, revision {}", board.rev);
            checks.add(NAME, Outcome::Ok, found, None);
        }
        Ok(document) => {
            let shown = document.revision().unwrap_or_default();
            let found = format!(
                "differs from the log: it is at revision {shown}, possibly edited, and the log is at {}; \
                 the next command or hook syncs them",
                board.rev
            );
            checks.add(NAME, Outcome::Warning, found, Some(MENDS));
        }
    }
    Ok(())
}

/// Checks for leases and claims of sessions that ended, and for expired ones.
fn check_held(checks: &mut Checks, board: &Board, ended: &[Session], now: Timestamp) {
    const NAME: &str = "mesh, leases and claims";
    let is_gone = |by: &AgentName, session: Option<&str>| {
        let mut ended = ended.iter();
        session.is_some_and(|id| ended.any(|ended| ended.is(by, id)))
    };
    let leases = board.leases.iter().filter(|lease| lease.until > now);
    let (gone, live): (Vec<_>, Vec<_>) =
        leases.partition(|lease| is_gone(&lease.by, lease.session_id.as_deref()));
    let claims = board
        .tasks
        .iter()
        .filter(|task| task.status == Status::InProgress);
    let claims = claims.filter_map(|task| task.claim.as_ref());
    let (left, held): (Vec<_>, Vec<_>) = claims
        .partition(|claim| claim.until <= now || is_gone(&claim.by, claim.session_id.as_deref()));
    let found = format!(
        "{} and {} held",
        many(live.len() as u64, "lease"),
        many(held.len() as u64, "claim")
    );
    checks.add(NAME, Outcome::Ok, found, None);
    if !gone.is_empty() || !left.is_empty() {
        let found = format!(
            "{} and {} of sessions that ended or timed out; the next command or hook releases them",
            many(gone.len() as u64, "lease"),
            many(left.len() as u64, "claim")
        );
        checks.add(
            NAME,
            Outcome::Warning,
            found,
            Some("callosum mesh task list"),
        );
    }
}

/// Checks for messages that no agent has received, and tasks that no agent has begun.
fn check_waiting(context: &Context, checks: &mut Checks, board: &Board, now: Timestamp) {
    const NAME: &str = "mesh, waiting";
    let Tally {
        waiting,
        oldest_waits,
        dead,
        pending,
        ..
    } = board.tally(now);
    let oldest = match waiting {
        0 => String::new(),
        _ => format!(
            ", the oldest for {} s",
            thousands(oldest_waits.as_secs().unsigned_abs())
        ),
    };
    let own_dead = board.dead_letters_of(&context.state().to_string_lossy());
    let of_others = match dead - own_dead {
        0 => String::new(),
        count => format!("; {} of other projects", many(count, "dead letter")),
    };
    let found = format!(
        "{}{oldest}, {}{of_others}",
        many(waiting, "message"),
        many(pending, "task")
    );
    checks.add(NAME, Outcome::Ok, found, None);
    if own_dead > 0 {
        let found = format!("{} that could not be delivered", many(own_dead, "message"));
        let hint = Some("callosum mesh message list --dead");
        checks.add(NAME, Outcome::Warning, found, hint);
    }
}

fn check_daemon(context: &Context, checks: &mut Checks, folder: &Path) {
    const NAME: &str = "mesh, daemon";
    const AGAIN: &str = "callosum serve stop && callosum serve --detach";
    let note = context
        .disk
        .exists(&folder.join("serve.json"))
        .unwrap_or(false);
    let Ok(answer) = running(folder) else {
        if note {
            let found = "does not answer, but its file serve.json exists: it was killed or hangs";
            checks.add(
                NAME,
                Outcome::Warning,
                found,
                Some("callosum serve --detach"),
            );
        } else {
            let found = "none; commands and hooks use the files directly";
            checks.add(NAME, Outcome::Ok, found, None);
        }
        return;
    };
    let serving: Option<Serving> = serde_json::from_value(answer["serving"].clone()).ok();
    let Some(serving) = serving else {
        let found = "its answer has a form that this version does not know";
        return checks.add(NAME, Outcome::Warning, found, Some(AGAIN));
    };
    let origin = context.disk.read_if_there(&folder.join("origin"));
    let origin = origin.ok().flatten().unwrap_or_default();
    if origin.trim_ascii() != serving.origin.as_bytes() {
        let found = format!(
            "process {} serves a different log than the one here",
            serving.pid
        );
        checks.add(NAME, Outcome::Warning, found, Some(AGAIN));
    } else if serving.version == env!("CARGO_PKG_VERSION") {
        let found = format!("process {}, since {}", serving.pid, serving.started);
        checks.add(NAME, Outcome::Ok, found, None);
    } else {
        let found = format!(
            "process {} is version {}",
            serving.pid,
            on_one_line(&serving.version)
        );
        checks.add(NAME, Outcome::Warning, found, Some(AGAIN));
    }
    for unserved in &serving.unserved {
        let found = format!(
            "does not serve {} at {}: when it started: {}",
            unserved.what, unserved.address, unserved.reason
        );
        let hint = elsewhere(&unserved.what);
        checks.add(NAME, Outcome::Warning, on_one_line(&found), Some(&hint));
    }
    if let Some(fault) = answer["configuration_fault"].as_str() {
        let found = format!("still uses the last valid configuration: {fault}");
        let hint = format!(
            "${{EDITOR:-vi}} {}",
            on_one_line(&context.project.homes.user_config.display().to_string())
        );
        checks.add(NAME, Outcome::Warning, on_one_line(&found), Some(&hint));
    }
    let last = answer["last_seq"].as_u64().unwrap_or_default();
    let sinks: Vec<SinkStatus> =
        serde_json::from_value(answer["sinks"].clone()).unwrap_or_default();
    for sink in sinks.iter().filter(|sink| !sink.healthy) {
        let why = sink.reason.as_deref().unwrap_or("no answer");
        let at = match sink.cursor.as_str() {
            "" => String::new(),
            cursor => format!("; it is at {cursor}, the log is at {last}"),
        };
        let found = format!("sink {} accepts no events: {why}{at}", sink.name);
        let hint = Some("callosum serve status");
        checks.add(NAME, Outcome::Warning, on_one_line(&found), hint);
    }
    for sink in sinks.iter().filter(|sink| sink.passed_over > 0) {
        let found = format!(
            "sink {} refused {} of its events and will not receive them",
            sink.name, sink.passed_over
        );
        let hint = Some("callosum serve status --json");
        checks.add(NAME, Outcome::Warning, found, hint);
    }
}
