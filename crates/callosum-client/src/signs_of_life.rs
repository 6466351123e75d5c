//! [`signs_of_life`]: when each agent was last heard of, by what its hooks and panes leave on disk.
//!
//! Nothing is written for it: a hook notes the state of its session anyway, and the pane registry
//! has when a screen last changed.

use std::collections::BTreeMap;

use callosum_config::Homes;
use callosum_host::Disk;
use callosum_mesh::agent::AgentName;
use callosum_panes::{Registry, hook_event};
use jiff::Timestamp;

/// Returns the last sign of life of each agent, by the mesh's name. Reads at most the last event of
/// 1,000 sessions, and the pane registry.
pub fn signs_of_life(disk: &Disk, homes: &Homes) -> BTreeMap<String, Timestamp> {
    let mut latest: BTreeMap<String, Timestamp> = BTreeMap::new();
    let mut see = |agent: &str, at: Timestamp| {
        if let Ok(name) = agent.parse::<AgentName>() {
            let known = latest.entry(name.as_str().to_owned()).or_insert(at);
            *known = at.max(*known);
        }
    };
    for event in hook_event::read_all(disk, &homes.hook_events()) {
        see(&event.client, event.at);
    }
    let registry = Registry::read(disk, &homes.pane_registry()).ok().flatten();
    for pane in registry.into_iter().flat_map(|registry| registry.panes) {
        if let Some(agent) = pane.mesh_agent() {
            see(agent, pane.last_active);
        }
    }
    latest
}
