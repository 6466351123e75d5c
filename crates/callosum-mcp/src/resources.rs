//! Resources: the session files of the project, for people and models to look at, and for
//! `callosum session sync` of another project to take.
//!
//! They are read-only, and have no secrets. Nothing else of the tree is a resource.

use callosum_app::CommandError;
use callosum_app::context::Context;
use callosum_app::session::{explain, session};
use callosum_executor::transport::EXACT;
use callosum_redact::quote::neutral;
use callosum_session::{
    SessionError,
    merge::Kind,
    sync::{INDEX, LARGEST_PART, Part},
    trajectory::Agent,
};
use rmcp::model::{
    ListResourcesResult, MetaObject, ReadResourceResult, Resource, ResourceContents,
};

/// Resources of a page of the list.
const PAGE: usize = 200;

/// Reason why there is no resource.
pub(super) enum ResourceFault {
    /// None has the name, or the cursor.
    Unknown(String),
    /// The project's files cannot be read.
    Failed(CommandError),
}

impl From<CommandError> for ResourceFault {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

impl From<SessionError> for ResourceFault {
    fn from(error: SessionError) -> Self {
        Self::Failed(explain(&error))
    }
}

/// Lists a page of the resources; `cursor` is the number of those on the pages before.
pub(super) fn listed(
    context: &Context,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ResourceFault> {
    let begin: usize = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .map_err(|_| ResourceFault::Unknown("there is no page with this cursor".to_owned()))?,
    };
    let zones = context.zones();
    let parts = session(context, &zones, Agent::default()).parts()?;
    let parts = parts.into_iter().rev();
    let parts: Vec<(Part, u64)> = parts.filter(|(_, size)| *size <= LARGEST_PART).collect();
    let mut page = Vec::new();
    if begin == 0 && !parts.is_empty() {
        let index = Resource::new(INDEX, "session index")
            .with_description("List of the session files, for `callosum session sync`")
            .with_mime_type("application/json");
        page.push(index);
    }
    let all = parts.len();
    for (part, size) in parts.into_iter().skip(begin).take(PAGE) {
        let resource = Resource::new(part.to_string(), part.file(&zones))
            .with_mime_type(mime_type(part.kind()))
            .with_size(size);
        page.push(resource);
    }
    let mut result = ListResourcesResult::with_all_items(page);
    let next = begin.saturating_add(PAGE);
    result.next_cursor = (next < all).then(|| next.to_string());
    Ok(result)
}

/// Reads a resource. Invisible characters are shown; the text as the file has it is in `_meta` then.
pub(super) fn read(context: &Context, uri: &str) -> Result<ReadResourceResult, ResourceFault> {
    let zones = context.zones();
    let session = session(context, &zones, Agent::default());
    if uri == INDEX {
        let offer = session.offer()?;
        let text = serde_json::to_string(&offer).map_err(CommandError::internal)?;
        let content = ResourceContents::text(text, uri).with_mime_type("application/json");
        return Ok(ReadResourceResult::new(vec![content]));
    }
    let unknown = || {
        let shown: String = uri.escape_debug().take(200).collect();
        ResourceFault::Unknown(format!("there is no resource `{shown}`"))
    };
    let part = Part::parse(uri).ok_or_else(unknown)?;
    let text = session.part(&part)?.ok_or_else(unknown)?;
    let shown = neutral(&text);
    let is_exact = shown == text;
    let mut content = ResourceContents::text(shown, uri).with_mime_type(mime_type(part.kind()));
    if !is_exact {
        let mut meta = MetaObject::new();
        meta.0.insert(EXACT.to_owned(), text.into());
        content = content.with_meta(meta);
    }
    Ok(ReadResourceResult::new(vec![content]))
}

fn mime_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Notes => "text/markdown",
        Kind::Trajectory => "application/jsonl",
        Kind::Bead => "application/yaml",
    }
}
