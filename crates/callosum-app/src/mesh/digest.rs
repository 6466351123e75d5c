//! `callosum mesh digest`: the text that an agent gets when its session begins.

use callosum_client::related::{CurrentWork, RelatedQuestion, related_line};
use callosum_client::{digest_sources, project_sources};
use callosum_config::MeshSettings;
use callosum_executor::client::Client;
use callosum_executor::output_format::Dialect;
use callosum_host::process::Identity;
use callosum_mesh::agent::AgentName;
use callosum_mesh::digest::{Digest, DigestContext, Source};
use callosum_mesh::{Author, Mesh};
use callosum_session::Session;
use callosum_session::trajectory::Agent;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;
use crate::context::Context;
use crate::mesh::open;
use crate::{intent, memory};

/// `callosum mesh digest --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DigestOutput {
    /// The text; empty where there is nothing to tell.
    pub text: String,
    /// The messages in it.
    pub messages: Vec<String>,
    /// Number of items that did not fit.
    pub left_out: usize,
}

/// Returns the digest for an agent.
pub fn digest(
    context: &Context,
    voice: &Author,
    budget: u64,
) -> Result<(Mesh, Digest), CommandError> {
    let (mut mesh, is_writable, fault) = open::readable_anyway(context)?;
    let mut beside = beside(context, &mesh, voice, is_writable)?;
    let fault = fault.map(|fault| Source::Broken(fault.to_string()));
    beside.sources.extend(fault);
    let digest = mesh.digest_for(voice, &beside, budget);
    let mut digest = digest.map_err(|error| open::explain(&error))?;
    digest.text.push_str(&configured(context));
    let related = related(context, &mut mesh, voice)?;
    digest.text.push_str(&related);
    Ok((mesh, digest))
}

/// Returns the lines of the files and commands that the user configured, beyond the digest's own budget.
pub fn configured(context: &Context) -> String {
    let Context {
        disk, environment, ..
    } = context;
    let settings = MeshSettings::load(disk, &context.project.homes.user_config);
    let sources = settings.unwrap_or_default().digest_sources;
    digest_sources::configured(disk, environment, &sources, context.tree())
}

/// Returns the line about past turns that are related to an agent's work in this project, beyond the digest's own budget.
fn related(context: &Context, mesh: &mut Mesh, voice: &Author) -> Result<String, CommandError> {
    let mut work = CurrentWork::default();
    let ledger = context.ledger_paths();
    if let Some(intent) = intent::at_start(&context.disk, &ledger) {
        work.add(&intent.goal);
    }
    if let Source::Read(notes) = hand_offs(context, &voice.agent) {
        for note in &notes {
            work.add(&note.words);
        }
    }
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    work.add_tasks(board, &voice.agent);
    let question = RelatedQuestion {
        disk: &context.disk,
        homes: &context.project.homes,
        folders: memory::project_folders(context),
        session: voice.session_id.as_deref(),
        work,
    };
    Ok(related_line(&memory::related_at_start(&question)))
}

fn hand_offs(context: &Context, agent: &AgentName) -> Source {
    let session = Session {
        disk: &context.disk,
        zones: &context.zones(),
        clock: &context.clock,
        agent: Agent::default(),
    };
    project_sources::hand_offs(&session, agent)
}

/// Collects the parts of a digest that do not come from the mesh, in the project in which it is
/// asked for.
pub fn beside(
    context: &Context,
    mesh: &Mesh,
    voice: &Author,
    is_writable: bool,
) -> Result<DigestContext, CommandError> {
    let since = mesh.told_at(voice).map_err(|error| open::explain(&error))?;
    let agent = &voice.agent;
    let client = Dialect::ALL.into_iter().filter_map(Client::of);
    let client = client.into_iter().find(|client| {
        let name = client.program.parse::<AgentName>();
        name.is_ok_and(|name| name == *agent)
    });
    let own = project_sources::Own {
        session: voice.session_id.as_deref(),
        pid: Identity::ancestors().first().map_or(0, |client| client.pid),
    };
    let homes = &context.project.homes;
    let panes = project_sources::panes(
        &context.disk,
        homes,
        context.tree(),
        &own,
        context.clock.now(),
    );
    let mut found = vec![panes];
    found.extend(project(context, agent, since));
    found.extend(project_sources::left_alone(&context.disk, mesh));
    Ok(DigestContext {
        sources: found,
        is_sandboxed: !is_writable || project_sources::is_sandboxed(client),
    })
}

/// Returns the digest sources of the project.
pub fn project(context: &Context, agent: &AgentName, since: Option<Timestamp>) -> Vec<Source> {
    let paths = context.ledger_paths();
    vec![
        hand_offs(context, agent),
        project_sources::ledger(&context.disk, &paths, since, agent),
    ]
}
