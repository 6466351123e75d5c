//! Resources: the files that a server's index lists, read over one connection.

use std::collections::HashSet;

use futures_util::{StreamExt as _, stream};
use rmcp::{
    Peer, RoleClient,
    model::{ReadResourceRequestParams, ResourceContents},
    service::ServiceError,
};
use serde::Deserialize;
use tokio::sync::mpsc::UnboundedSender;

use super::worker::not_done;
use crate::{
    output_format::ErrorText,
    transport::{EXACT, Event, ResourceQuery, say},
};

/// Requests that are under way at once: over a slow connection, one after the other would take a
/// round trip for each file.
const AT_ONCE: usize = 16;

/// The part of an index that is needed here; the controller checks all of it.
#[derive(Deserialize)]
struct Index {
    parts: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    uri: String,
    sha256: String,
}

/// Reads an index, then each resource that it lists and that is not known, and reports them.
pub(super) async fn read_listed(
    peer: &Peer<RoleClient>,
    query: &ResourceQuery,
    tell: &UnboundedSender<Event>,
) -> Result<(), ErrorText> {
    let index = match read(peer, &query.index).await {
        Ok(index) => index,
        Err(ServiceError::McpError(error)) => {
            let words = format!("it has no `{}`: {}", query.index, error.message);
            return Err(ErrorText::of_ours(&words));
        }
        Err(error) => return Err(not_done(&error)),
    };
    let index = index.unwrap_or_default();
    // The controller says what is wrong with one that is not readable.
    let parts =
        serde_json::from_str(&index).map_or_else(|_| Vec::new(), |index: Index| index.parts);
    let uri = query.index.clone();
    say(tell, Event::Resource { uri, text: index });
    let known: HashSet<(&str, &str)> = query
        .known
        .iter()
        .map(|(uri, sha256)| (uri.as_str(), sha256.as_str()))
        .collect();
    // The controller refuses a longer list, so that nothing of it is needed.
    let is_too_long = parts.len() > query.most;
    let wanted = parts.into_iter().filter(|_| !is_too_long);
    let wanted = wanted.filter(|part| !known.contains(&(part.uri.as_str(), part.sha256.as_str())));
    let wanted: Vec<String> = wanted.map(|part| part.uri).collect();
    let mut reading = stream::iter(wanted)
        .map(|uri| async {
            let read = read(peer, &uri).await;
            (uri, read)
        })
        .buffer_unordered(AT_ONCE);
    while let Some((uri, read)) = reading.next().await {
        match read {
            Ok(Some(text)) => say(tell, Event::Resource { uri, text }),
            // It is gone since it was listed; the controller names what it did not get.
            Ok(None) | Err(ServiceError::McpError(_)) => {}
            Err(error) => return Err(not_done(&error)),
        }
    }
    say(tell, Event::Done);
    Ok(())
}

/// Reads the text of one resource, as exactly as the server has it; `None` if it is not text.
async fn read(peer: &Peer<RoleClient>, uri: &str) -> Result<Option<String>, ServiceError> {
    let result = peer
        .read_resource(ReadResourceRequestParams::new(uri))
        .await?;
    let first = result.contents.into_iter().next();
    Ok(match first {
        Some(ResourceContents::TextResourceContents { text, meta, .. }) => {
            let exact = meta.as_ref().and_then(|meta| meta.0.get(EXACT)?.as_str());
            Some(exact.map_or(text, str::to_owned))
        }
        _ => None,
    })
}
