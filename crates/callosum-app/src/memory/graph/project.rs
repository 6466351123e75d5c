//! [`Project`]: the decisions, beads and intents of a project that name a file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use callosum_config::Roots;
use callosum_intent::graph::{Graph, Intent};
use callosum_mesh::board::Board;
use callosum_mesh::mesh_store;
use callosum_session::bead::{Bead, BeadId};
use callosum_session::notes::Decision;
use callosum_session::trajectory::Agent;

use super::paths;
use crate::context::Context;
use crate::intent::journal;
use crate::memory::MemoryMachine;
use crate::report::Silent;
use crate::session::session;

/// Most beads that are read.
const MOST_BEADS: usize = 500;

/// Decisions, beads and intents of a project. Parts that cannot be read are empty.
pub(super) struct Project {
    root: String,
    decisions: Vec<Decision>,
    beads: Vec<NamedBead>,
    pub(super) intents: Graph,
}

/// A bead with the files that it names.
pub(super) struct NamedBead {
    pub(super) id: String,
    pub(super) title: String,
    files: BTreeSet<String>,
}

impl Project {
    /// Reads the projects of these folders, at most `most`.
    pub(super) fn read_all(
        machine: &MemoryMachine,
        folders: &BTreeSet<&str>,
        most: usize,
    ) -> Vec<Self> {
        let mut projects: Vec<Self> = Vec::new();
        for folder in folders {
            if projects.len() == most || root_of(&projects, Some(folder)).is_some() {
                continue;
            }
            projects.extend(Self::read(machine, Path::new(folder)));
        }
        projects
    }

    /// Reads the project that a folder belongs to; `None` if there is none.
    fn read(machine: &MemoryMachine, folder: &Path) -> Option<Self> {
        let environment = machine.environment.clone();
        let cancel = machine.cancel.clone();
        let tree = Roots::find(&machine.disk, folder, None).ok()?.tree;
        let context = Context::gather(environment, Some(&tree), Arc::new(Silent), cancel).ok()?;
        let zones = context.zones();
        let session = session(&context, &zones, Agent::default());
        let notes = session.notes().ok().flatten();
        let beads = zones.real(&context.disk, &zones.beads()).ok();
        let listed = beads.and_then(|beads| context.disk.list_dir(&beads).ok());
        let ids = listed
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.name.to_str().and_then(BeadId::of_file));
        let beads = ids.take(MOST_BEADS).filter_map(|id| {
            let sheet = session.bead(&id).ok()?;
            Some(NamedBead {
                id: id.to_string(),
                title: Bead::of(sheet.members()).title,
                files: paths(sheet.text()).map(str::to_owned).collect(),
            })
        });
        let beads = beads.filter(|bead| !bead.files.is_empty()).collect();
        let intents = journal::read_from(&context.disk, &context.ledger_paths());
        Some(Self {
            root: context.tree().to_str()?.to_owned(),
            decisions: notes.map(|notes| notes.decisions()).unwrap_or_default(),
            beads,
            intents: intents.map(|read| read.graph).unwrap_or_default(),
        })
    }

    /// Returns its folder.
    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// Returns the decisions that cite a file.
    pub(super) fn decisions_citing<'p>(
        &'p self,
        path: &'p str,
    ) -> impl Iterator<Item = &'p Decision> {
        let cites = move |decision: &&Decision| {
            let mut evidence = decision.evidence.iter();
            evidence.any(|evidence| evidence.path == path)
        };
        self.decisions.iter().rev().filter(cites)
    }

    /// Returns the beads that name a file.
    pub(super) fn beads_naming<'p>(&'p self, path: &'p str) -> impl Iterator<Item = &'p NamedBead> {
        let names = move |bead: &&NamedBead| bead.files.contains(path);
        self.beads.iter().filter(names)
    }

    /// Returns the intents that name a file.
    pub(super) fn intents_naming<'p>(&'p self, path: &'p str) -> impl Iterator<Item = &'p Intent> {
        let names = move |intent: &&Intent| {
            let texts = [intent.goal.as_str()].into_iter();
            let texts = texts.chain(intent.original_request.as_deref());
            let mut named = texts.flat_map(paths);
            intent.paths().iter().any(|limit| limit == path) || named.any(|named| named == path)
        };
        self.intents.intents().into_iter().rev().filter(names)
    }
}

/// Returns the root of the project that a folder is in.
pub(super) fn root_of<'p>(projects: &'p [Project], folder: Option<&str>) -> Option<&'p str> {
    let folder = Path::new(folder?);
    let mut roots = projects.iter().map(Project::root);
    roots.find(|root| folder.starts_with(root))
}

/// Returns the tasks of the mesh; `None` if there is no mesh or it cannot be read.
pub(super) fn board(machine: &MemoryMachine) -> Option<Board> {
    let folder = machine.homes.mesh();
    if !mesh_store::is_begun(&machine.disk, &folder).ok()? {
        return None;
    }
    let clock = machine.environment.clock().ok()?;
    let ids = machine.environment.ids().ok()?;
    let mut mesh = mesh_store::open(&machine.disk, &clock, &ids, &folder).ok()?;
    mesh.board().ok().cloned()
}
