//! [`HookTokens`]: tokens that hooks added to models' contexts in this project, for `status` and `doctor -v`.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::hook_tokens`].

use std::path::Path;

use callosum_app::hook_tokens::HookTokens;
use callosum_app::thousands;
use callosum_client::hook::tokens::added;
use callosum_host::DiskError;

use super::client_settings;
use super::context::Context;
use super::local_time::LocalTime;

/// Sums up what was added, by client in the order of names.
pub(super) fn gather(context: &Context, times: &LocalTime) -> Result<Vec<HookTokens>, DiskError> {
    let now = context.clock.now();
    let added = added(&context.disk, &context.project.homes)?;
    let folders = [context.tree(), context.sessions()];
    let is_here = |folder: &str| {
        let mut folders = folders.iter();
        folders.any(|own| Path::new(folder).starts_with(own))
    };
    let added: Vec<_> = added
        .iter()
        .filter(|(_, added)| is_here(&added.folder))
        .collect();
    let mut clients: Vec<&str> = added
        .iter()
        .map(|(_, added)| added.client.as_str())
        .collect();
    clients.sort_unstable();
    clients.dedup();
    let sums = clients.into_iter().filter_map(|client| {
        let own = added.iter().filter(|(_, added)| added.client == client);
        let session = &own.clone().next_back()?.1.session;
        let of_session = own.clone().filter(|(_, added)| added.session == *session);
        let of_today = own.filter(|(at, _)| times.is_same_day(*at, now));
        Some(HookTokens {
            client: client.to_owned(),
            session_id: session.clone(),
            session_tokens: of_session.map(|(_, added)| added.tokens).sum(),
            today_tokens: of_today.map(|(_, added)| added.tokens).sum(),
        })
    });
    Ok(sums.collect())
}

/// Returns it on one line; `None` if nothing was added.
pub(super) fn line(added: &[HookTokens]) -> Option<String> {
    let parts: Vec<String> = added
        .iter()
        .map(|added| {
            format!(
                "added {} tokens in the last session ({}), {} today",
                thousands(added.session_tokens),
                client_settings::label_of(&added.client),
                thousands(added.today_tokens)
            )
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
