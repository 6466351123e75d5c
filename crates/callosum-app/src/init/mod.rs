//! Sets up a project: creates its files, and brings in what the machine kept for it before ([`moving`]).

pub mod exclude;
pub mod moving;
pub mod moving_out;
pub mod render;

pub use self::exclude::{Excluded, unexclude};
pub use self::render::by_folder;

use std::path::{Path, PathBuf};

use callosum_config::Subject;
use callosum_executor::registry::Registry;
use callosum_host::Disk;
use callosum_json::Checksum;
use callosum_ledger::Ledger;
use schemars::JsonSchema;
use serde::Serialize;

use crate::client_settings::ClientOutput;
use crate::context::Context;
use crate::init::render::LeftOutOutput;
use crate::instructions::InstructionsOutput;
use crate::zone_report::ZoneOutput;
use crate::{CommandError, config_errors, disk_errors, ledger_errors, many};

/// Free space under which `init` warns (REQ-DEP-004).
pub const ROOM_NEEDED: u64 = 500 * 1024 * 1024;

/// A new `.calrc`: the seed's keys (Seed CAL §14.2) with their defaults, and no executor preferred.
const INITIAL_CALRC: &[u8] = br#"{
  "concurrency_limit": 5,
  "ledger_path": ".cal_memory.json",
  "audit_path": "cal_audit/",
  "rotation_threshold_mb": 250,
  "executor_timeout_ms": 5000,
  "retry_max": 3,
  "executors": {}
}
"#;

/// `callosum init --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct InitOutput {
    /// The root folder.
    pub root: String,
    /// Created files, relative to the root.
    pub created: Vec<String>,
    /// Number of files of the project's state that were moved into its tree.
    pub moved: u64,
    /// Files of the zones that were there before and are not as we would write them.
    pub zones: Vec<ZoneOutput>,
    /// Entries of an existing ledger that the audit journal took over.
    pub adopted: u64,
    /// Lines that were added to .git/info/exclude.
    pub excluded: Vec<String>,
    /// Changes of clients' settings.
    pub clients: Vec<ClientOutput>,
    /// Changes of clients' settings to register our server of tools.
    pub servers: Vec<ClientOutput>,
    /// File with instructions that each client reads.
    pub instructions: Vec<InstructionsOutput>,
    /// Coding agents that are installed and whose settings were not touched.
    pub left_out: Vec<LeftOutOutput>,
    /// Whether nothing was done but to say what would be.
    pub dry_run: bool,
}

/// Result of [`create_files`].
#[derive(Default)]
pub struct Created {
    /// The files that were created.
    pub paths: Vec<PathBuf>,
    /// The number of entries that were imported.
    pub adopted: u64,
    archives: u64,
    /// Files with an archive's name that are no archives.
    passed_over: Vec<PathBuf>,
}

impl Created {
    /// Names what was created in one line, if anything was.
    pub fn tell(&self, context: &Context) {
        let place = &context.project.places.state;
        if !self.paths.is_empty() && !place.is_in_tree {
            let folder = place.folder.display();
            context
                .report
                .detail(&format!("created the project's state in {folder}"));
        } else if !self.paths.is_empty() {
            let names: Vec<String> = self
                .paths
                .iter()
                .map(|path| shown(path, context.state()))
                .collect();
            context.report.say(&format!(
                "created in {}: {}",
                context.state().display(),
                names.join(" ")
            ));
        }
        if self.adopted > 0 {
            context.report.say(&format!(
                "imported {} of the existing ledger into the audit journal",
                many(self.adopted, "entry")
            ));
        }
        if self.archives > 0 {
            context.report.say(&format!(
                "the audit journal now records {}",
                many(self.archives, "archive")
            ));
        }
        for path in &self.passed_over {
            let what = format!(
                "`{}` is not a ledger with valid checksums and is ignored",
                shown(path, context.state())
            );
            context.report.warn(&what, None);
        }
    }
}

/// Creates the files of Seed CAL §14.3 that are missing, the registry with `scout` in it.
///
/// A project that was not initialized has them in the machine's folder, which is created for this user alone.
pub fn create_files(context: &Context) -> Result<Created, CommandError> {
    if !context.project.places.state.is_in_tree {
        moving::prepare(context)?;
    }
    let creation = Ledger::create(&context.disk, &context.ledger_paths(), &context.clock)
        .map_err(|error| ledger_errors::uncreated(&error))?;
    let mut paths = creation.created;
    let registry = context.project.places.registry.clone();
    if create(&context.disk, &registry, &Registry::initial().to_bytes())? {
        paths.push(registry);
    }
    let calrc = context.project.places.calrc.clone();
    if create(&context.disk, &calrc, INITIAL_CALRC)? {
        // Written here, so its user's own; later changes by `config set` stay so.
        let subject = Subject::Calrc(Checksum::of(INITIAL_CALRC));
        let mut trust = context.project.trust.clone();
        trust
            .record(subject)
            .map_err(|error| config_errors::trust(&error))?;
        paths.push(calrc);
    }
    let adopted = creation.adopted.unwrap_or_default();
    Ok(Created {
        paths,
        adopted: adopted.entries,
        archives: adopted.archives,
        passed_over: adopted.passed_over,
    })
}

fn create(disk: &Disk, path: &Path, bytes: &[u8]) -> Result<bool, CommandError> {
    disk.create(path, bytes, 0o644)
        .map_err(|error| disk_errors::disk_failed(&error))
}

/// A path as seen from the root, folders with a slash as the ledger names them.
pub fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}
