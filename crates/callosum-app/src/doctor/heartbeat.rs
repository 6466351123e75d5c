//! When each client last asked the guard's hook, sessions that ran commands without asking it, and what hooks cost.
//!
//! The hook records each decision with its client, session and time; nothing is recorded for this check. A session is only
//! named if that is certain: it began after the hook was registered, has run commands, and no decision is of it.

use std::collections::BTreeSet;
use std::time::Duration;

use callosum_client::registration::Scope;
use callosum_client::transcript::{Commands, newest_few};
use callosum_executor::client::Client;
use callosum_host::DiskError;
use jiff::Timestamp;

use crate::client_settings;
use crate::context::Context;

/// Age of the oldest decisions and sessions that are checked.
pub const LOOKED_AT: Duration = Duration::from_hours(7 * 24);

/// Most transcripts of a client that are read.
const MOST_READ: usize = 5;

/// Returns when the settings with the guard's hook were last changed: since then it was registered. Of several settings, the
/// oldest counts.
pub fn registered_since(context: &Context, client: &'static Client) -> Option<Timestamp> {
    let registrar = client_settings::registrar(context);
    let scopes = [Scope::User, Scope::Project].into_iter();
    let places = scopes.filter_map(|scope| client_settings::place(context, client, scope));
    let is_registered = places.filter(|place| {
        let commands = registrar.commands(place);
        commands.is_ok_and(|commands| !commands.is_empty())
    });
    let changed = is_registered.filter_map(|place| {
        // Settings are often links into a folder of dotfiles, and a link does not change with its file.
        let settings = context.disk.canonicalize(&place.path).ok()?;
        let found = context.disk.stat(&settings).ok()??;
        Timestamp::try_from(found.modified).ok()
    });
    changed.min()
}

/// Whether something in the client's settings keeps it from asking, or that cannot be found out.
pub fn has_doubts(context: &Context, client: &'static Client) -> bool {
    let own = client_settings::own_folder(context, client).unwrap_or_default();
    let scopes = [Scope::User, Scope::Project].into_iter();
    let mut places = scopes.filter_map(|scope| client_settings::place(context, client, scope));
    places.any(|place| {
        let doubts = client_settings::registrar(context).doubts(&place, &own);
        doubts.map_or(true, |doubts| !doubts.is_empty())
    })
}

/// Returns sessions of this project that began after `from`, have run commands, and did not ask; the newest first.
pub fn unasked(
    context: &Context,
    client: &'static Client,
    from: Timestamp,
    asked: &BTreeSet<String>,
) -> Result<Vec<Commands>, DiskError> {
    let Some(home) = client_settings::own_folder(context, client) else {
        return Ok(Vec::new());
    };
    let folders = [context.tree(), context.sessions()];
    let mut found = Vec::new();
    for path in newest_few(&context.disk, &[(client, home)], &folders, MOST_READ)? {
        let Some(commands) = Commands::read(&context.disk, &path)? else {
            continue;
        };
        let has_asked = commands.sessions.iter().any(|id| asked.contains(id));
        if commands.began > from && commands.count > 0 && !has_asked {
            found.push(commands);
        }
    }
    Ok(found)
}
