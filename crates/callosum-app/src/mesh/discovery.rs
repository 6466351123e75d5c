//! `callosum mesh discovery`: findings that one agent shares with all others.

use callosum_mesh::Mesh;
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;
use crate::context::Context;
use crate::mesh::open;

/// `callosum mesh discovery list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiscoveriesOutput {
    /// The discoveries, oldest first.
    pub discoveries: Vec<DiscoveryOutput>,
}

/// A discovery.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiscoveryOutput {
    /// Its id.
    pub id: String,
    /// Content of the finding.
    pub content: String,
    /// By whom.
    pub source: String,
    /// Person and machine, such as `ana@laptop`, if it was found on another machine.
    pub machine: Option<String>,
    /// When.
    pub timestamp: String,
    /// In which folder.
    pub cwd: Option<String>,
}

/// All discoveries, oldest first.
pub fn listed(context: &Context) -> Result<DiscoveriesOutput, CommandError> {
    let (mut mesh, _) = open::readable(context)?;
    shown(&mut mesh)
}

/// Returns the discoveries of the board.
pub fn shown(mesh: &mut Mesh) -> Result<DiscoveriesOutput, CommandError> {
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let discoveries = board.discoveries.iter().map(|discovery| DiscoveryOutput {
        id: discovery.id.clone(),
        content: discovery.content.clone(),
        source: discovery.source.to_string(),
        machine: discovery.machine.clone(),
        timestamp: discovery.timestamp.to_string(),
        cwd: discovery.cwd.clone(),
    });
    Ok(DiscoveriesOutput {
        discoveries: discoveries.collect(),
    })
}
