//! [`CallContext`]: the facts about the location of a call, gathered with few system calls.
//!
//! Missing facts make the guard stricter, so nothing here fails.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callosum_executor::client::Client;
use callosum_guard::{CommandAnalysis, Decision, Facts, Permission, Policy, Verdict};
use callosum_host::{Disk, OpenHow};
use callosum_ledger::Journal;

use super::{
    additional_dirs,
    event::Action,
    event::Event,
    git_state::{self, Look},
    path_facts::{analyze, seen, text},
    symlinks::{LONGEST, SymlinkResolver},
    worktree::{git_dir, is_linked, shared, trees},
};
use callosum_config::{
    AutoAllow, Environment, GuardConfig, Homes, Permissions, Project, ProjectOverrides,
};

/// Folders that everybody may write to.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Variables by which clients name the folder of the project.
const PROJECT: [&str; 3] = [
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
];

/// The location of a call.
pub(super) struct CallContext {
    pub(super) disk: Disk,
    pub(super) environment: Environment,
    pub(super) facts: Facts,
    /// The guard's configuration.
    pub(super) guard: GuardConfig,
    /// The user's permissions; `None` if there is no home.
    pub(super) permissions: Option<Permissions>,
    /// The command of the call, interpreted over these facts; `None` for a call without a command.
    analysis: Option<CommandAnalysis>,
    /// The result of a look at repositories and paths, if there was one.
    look: Option<Look>,
    /// Decisions that a person has set for single rules.
    pub(super) levels: BTreeMap<String, Decision>,
    /// Rules for commands that need no prompt; `None` if there is no home.
    pub(super) auto_allow: Option<AutoAllow>,
    /// The journal for the call; `None` if there is no home.
    pub(super) journal: Option<Journal>,
}

impl CallContext {
    /// Looks at the place of a call, and at what its client was given besides the project.
    pub(super) fn gather(
        disk: &Disk,
        environment: &Environment,
        event: &Event,
        client: Option<&Client>,
    ) -> Self {
        let (cwd, here) = folders(disk, environment, event.folder.as_deref());
        let here = session_folder(environment, disk, here);
        let trees = here.as_deref().map(|here| trees(disk, here));
        let trees = trees.unwrap_or_default();
        let here = tree_of(&trees, here, cwd.as_deref());
        let project = here.as_deref().and_then(|here| {
            Project::load(disk, environment, here, &ProjectOverrides::default()).ok()
        });
        let root = match (&project, here) {
            (Some(project), _) => Some(project.roots.tree.clone()),
            (None, here) => here.map(|here| real(disk, here)),
        };
        let state = project.as_ref().map(|project| &project.roots.state);
        let facts = facts(disk, environment, cwd.as_deref(), root.as_deref());
        let home = facts.home.as_deref().map(Path::new);
        let seen = seen(disk, cwd.as_deref(), home, &event.action);
        let mut facts = Facts {
            links: seen.links,
            repositories: seen.repositories,
            standing: seen.standing,
            state: records(state, root.as_deref()),
            ..facts
        };
        let given = client.map(|client| additional_dirs::folders(disk, environment, client));
        let given = given.into_iter().flatten().map(|folder| real(disk, folder));
        // The other trees of the same repository are worked in as well.
        let others = trees.into_iter().filter(|tree| Some(tree) != root.as_ref());
        let given = given.chain(others);
        let kept = [facts.home.as_deref(), facts.root.as_deref()].map(|kept| kept.map(Path::new));
        let given: Vec<PathBuf> = given.filter(|folder| !holds(folder, kept)).collect();
        facts.given = given.iter().filter_map(|folder| text(folder)).collect();
        let analysis = match &event.action {
            Action::Shell(command) => Some(analyze(disk, command, &facts)),
            Action::Write(_) | Action::Read(_) | Action::Other => None,
        };
        if let Some(analysis) = &analysis {
            facts = analysis.facts().clone();
        }
        let homes = match &project {
            Some(project) => Some(project.homes.clone()),
            None => Homes::find(environment).ok(),
        };
        let (tree, state) = match &project {
            Some(project) => (Some(&project.roots.tree), Some(&project.roots.state)),
            None => (root.as_ref(), root.as_ref()),
        };
        let roots: Vec<&Path> = [tree, state]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        let user = homes.as_ref().map(Homes::cake_config);
        let guard = GuardConfig::load(disk, user.as_deref(), &roots);
        let permissions = homes
            .as_ref()
            .zip(state)
            .map(|(homes, state)| Permissions::of(disk, homes, state));
        let now = environment.clock().ok().map(|clock| clock.now());
        let levels = permissions.as_ref().zip(now);
        // Levels that cannot be read lift nothing, and raise nothing.
        let levels = levels.and_then(|(permissions, now)| permissions.levels(now).ok());
        let auto_allow = homes.as_ref().map(|homes| AutoAllow::new(disk, homes));
        let journal = homes.map(|homes| journal(disk, &homes, project.as_ref()));
        Self {
            analysis,
            look: None,
            levels: levels.unwrap_or_default(),
            disk: disk.clone(),
            environment: environment.clone(),
            facts,
            guard,
            permissions,
            auto_allow,
            journal,
        }
    }

    /// Looks at the state of repositories and paths that a command is about, if the guard would stop it otherwise.
    pub(super) fn look_before_refusing(&mut self) {
        let policy = self.policy(Vec::new());
        let Some(analysis) = self.analysis.clone() else {
            return;
        };
        if analysis.verdict(&policy).decision == Decision::Allow {
            return;
        }
        let patience = self.environment.patience(git_state::PATIENCE);
        let patience = patience.unwrap_or(git_state::PATIENCE);
        let looked = git_state::look(&self.disk, &self.environment, &analysis, patience);
        if let Some(look) = looked {
            self.facts = look.facts.clone();
            self.analysis = Some(analysis.over(look.facts.clone()));
            self.look = Some(look);
        }
    }

    /// Returns the analysis of the call's own command.
    pub(super) fn own_analysis(&self) -> Option<CommandAnalysis> {
        self.analysis.clone()
    }

    /// Returns the analysis of a command here. That of the call's own command is made once.
    pub(super) fn analysis(&self, command: &str) -> CommandAnalysis {
        let own = self.analysis.as_ref().filter(|own| own.is_of(command));
        own.cloned()
            .unwrap_or_else(|| CommandAnalysis::of(command, &self.facts))
    }

    /// Returns what a command would do that this verdict stops, if that is known.
    pub(super) fn blast_radius(&self, verdict: &Verdict) -> Option<String> {
        let look = self
            .look
            .as_ref()
            .filter(|_| verdict.decision > Decision::Allow)?;
        look.blast_radius(&self.disk, verdict)
    }

    /// The policy that holds here, with what a person has allowed and the levels of rules that they have set.
    pub(super) fn policy(&self, permissions: Vec<Permission>) -> Policy {
        Policy {
            levels: self.levels.clone(),
            ..self.guard.policy(permissions)
        }
    }

    /// Returns a place without looking at the disk, for a lookup that may be what takes so long.
    pub(super) fn unseen(disk: &Disk, environment: Environment, event: &Event) -> Self {
        let homes = Homes::find(&environment).ok();
        Self {
            disk: disk.clone(),
            facts: Facts {
                cwd: event.folder.as_deref().and_then(text),
                home: environment.path("HOME").as_deref().and_then(text),
                ..Facts::default()
            },
            guard: GuardConfig::default(),
            permissions: None,
            analysis: None,
            look: None,
            levels: BTreeMap::new(),
            auto_allow: None,
            journal: homes.map(|homes| journal(disk, &homes, None)),
            environment,
        }
    }
}

/// Returns the folder of a call, and the one from which to look for its project: the folder that
/// the client names, else that of the call.
pub(super) fn folders(
    disk: &Disk,
    environment: &Environment,
    event_folder: Option<&Path>,
) -> (Option<PathBuf>, Option<PathBuf>) {
    let own = std::env::current_dir().ok();
    let event_folder =
        event_folder.filter(|folder| folder.is_absolute() && folder.as_os_str().len() < LONGEST);
    let cwd = event_folder.map(Path::to_owned).or_else(|| own.clone());
    let cwd = cwd.map(|cwd| real(disk, cwd));
    let named = PROJECT.iter().find_map(|name| environment.path(name));
    let here = named
        .filter(|named| named.is_absolute())
        .or_else(|| own.filter(|_| cwd.is_none()))
        .or_else(|| cwd.clone());
    (cwd, here)
}

/// Returns the folder from which to look for the project of a session's event: the one that the
/// client names, or the other tree of its repository in which the event happens. A client that
/// moves into a linked worktree still names the tree that it was started in.
pub(super) fn session_place(
    disk: &Disk,
    environment: &Environment,
    event_folder: Option<&Path>,
) -> Option<PathBuf> {
    let (cwd, here) = folders(disk, environment, event_folder);
    let trees = here.as_deref().map(|here| trees(disk, here));
    tree_of(&trees.unwrap_or_default(), here, cwd.as_deref())
}

/// Returns the folder from which to look for the project of a call that may name a folder of its
/// own: the repository in which the hook was started, if the client names none.
///
/// Codex starts a hook in the session's folder, and reports only the folder of the call.
fn session_folder(
    environment: &Environment,
    disk: &Disk,
    here: Option<PathBuf>,
) -> Option<PathBuf> {
    let is_named = PROJECT.iter().any(|name| environment.path(name).is_some());
    let own = std::env::current_dir().ok();
    let own = own.filter(|own| !is_named && git_dir(disk, own).is_some());
    own.or(here)
}

/// Returns the folder from which to look for the project of a call: the other tree of the session's
/// repository, if the call happens there.
fn tree_of(trees: &[PathBuf], here: Option<PathBuf>, cwd: Option<&Path>) -> Option<PathBuf> {
    let innermost = |folder: &Path| {
        let around = trees.iter().filter(|tree| folder.starts_with(tree));
        around.max_by_key(|tree| tree.as_os_str().len())
    };
    let (own, other) = (innermost(here.as_deref()?), innermost(cwd?));
    match other {
        Some(other) if own.is_some_and(|own| own != other) => Some(other.clone()),
        _ => here,
    }
}

/// Gathers the guard's facts about a folder that commands run in, and about its tree.
pub fn facts(
    disk: &Disk,
    environment: &Environment,
    cwd: Option<&Path>,
    root: Option<&Path>,
) -> Facts {
    let leads = SymlinkResolver::new(disk);
    let home = environment.path("HOME");
    let home = home.map(|home| leads.end(&home).unwrap_or(home));
    let git = cwd.and_then(|cwd| git_dir(disk, cwd));
    let initialised = root.is_some_and(|root| {
        let mut ours = [".calrc", "registry.json"].iter();
        ours.any(|name| disk.exists(&root.join(name)).unwrap_or(false))
    });
    Facts {
        cwd: cwd.and_then(text),
        free: free(&leads, environment, [home.as_deref(), root]),
        home: home.as_deref().and_then(text),
        root: root.and_then(text),
        given: Vec::new(),
        kept: kept(&leads, environment),
        machine: machine(&leads, environment),
        worktree: git.as_deref().is_some_and(is_linked),
        git_dir: git.as_deref().and_then(text),
        ignored: initialised
            && git
                .as_deref()
                .is_some_and(|git| passes_over_records(disk, git, root)),
        initialised,
        links: BTreeMap::new(),
        repositories: Vec::new(),
        standing: Vec::new(),
        missing: Vec::new(),
        folders: Vec::new(),
        git: BTreeMap::new(),
        absent: Vec::new(),
        state: None,
    }
}

/// Returns the folder of a project's records, if it is not the root of the tree.
pub fn records(state: Option<&PathBuf>, root: Option<&Path>) -> Option<String> {
    let elsewhere = state.filter(|state| Some(state.as_path()) != root);
    elsewhere.and_then(|state| text(state))
}

/// Returns the project's journal, if it has one; else the machine's, so that no repository is
/// littered.
pub fn journal(disk: &Disk, homes: &Homes, project: Option<&Project>) -> Journal {
    // For its user alone, before anything is put into it. An error here also prevents the record,
    // and the decision is made anyway.
    drop(homes.create_machine(disk));
    if let Some(project) = project {
        let paths = &project.places.ledger;
        if disk.exists(&paths.audit).unwrap_or(false) {
            return Journal::Project(Box::new(paths.clone()));
        }
    }
    Journal::Machine(homes.journal())
}

fn real(disk: &Disk, path: PathBuf) -> PathBuf {
    disk.canonicalize(&path).unwrap_or(path)
}

/// Returns the files outside of projects that control this program: by their own path, and, if that
/// is a link, by its target.
fn kept(leads: &SymlinkResolver<'_>, environment: &Environment) -> Vec<String> {
    let Ok(homes) = Homes::find(environment) else {
        return Vec::new();
    };
    let (cake_config, ck) = (homes.cake_config(), homes.ck());
    let (constitution, secret_reads) = (homes.constitution(), homes.secret_reads());
    let signature = Homes::signature_of(&constitution);
    let steering = [
        homes.machine,
        homes.user_config,
        cake_config,
        secret_reads,
        constitution,
        signature,
        ck,
    ];
    let mut kept: Vec<String> = Vec::new();
    for path in steering {
        let named = leads.named(&path);
        let end = leads.end(&named);
        for path in [Some(named), end].into_iter().flatten() {
            if let Some(path) = text(&path).filter(|path| !kept.contains(path)) {
                kept.push(path);
            }
        }
    }
    kept
}

/// The folder of what is the machine's, by what leads to it in the end.
fn machine(leads: &SymlinkResolver<'_>, environment: &Environment) -> Option<String> {
    let homes = Homes::find(environment).ok()?;
    let named = leads.named(&homes.machine);
    text(&leads.end(&named).unwrap_or(named))
}

/// The file that agents tell one another by, and the folder of additions to it: theirs to write, within what else they
/// may not touch.
fn bridge(leads: &SymlinkResolver<'_>, environment: &Environment) -> Vec<PathBuf> {
    let Ok(homes) = Homes::find(environment) else {
        return Vec::new();
    };
    let mesh = homes.mesh();
    let folder = leads.end(&mesh).unwrap_or(mesh);
    [callosum_mesh::bridge::FILE, callosum_mesh::bridge::DROP_INS]
        .map(|name| folder.join(name))
        .to_vec()
}

/// Returns the temporary folders, and the files by which agents communicate. A folder that contains
/// home or root does not count.
fn free(
    leads: &SymlinkResolver<'_>,
    environment: &Environment,
    kept: [Option<&Path>; 2],
) -> Vec<String> {
    let own = environment.path("TMPDIR").filter(|own| own.is_absolute());
    let all = TEMPORARY.iter().map(PathBuf::from);
    let mut free: Vec<String> = Vec::new();
    let own = own.map(|own| leads.end(&own).unwrap_or(own));
    for folder in all.chain(own).chain(bridge(leads, environment)) {
        let holds = holds(&folder, kept);
        let is_shared = TEMPORARY.iter().any(|shared| folder == Path::new(shared));
        if let Some(folder) = text(&folder).filter(|_| is_shared || !holds)
            && !free.contains(&folder)
        {
            free.push(folder);
        }
    }
    free
}

/// Whether one of these is in a folder, or is the folder.
fn holds(folder: &Path, kept: [Option<&Path>; 2]) -> bool {
    let mut kept = kept.iter().flatten();
    kept.any(|kept| kept.starts_with(folder))
}

/// Whether git ignores our records, by a file of the repository's own or of the tree.
fn passes_over_records(disk: &Disk, git_dir: &Path, root: Option<&Path>) -> bool {
    const LONGEST: usize = 64 * 1024;
    let shared = shared(git_dir);
    let tree = root.map(|root| root.join(".gitignore"));
    [Some(shared.join("info/exclude")), tree]
        .into_iter()
        .flatten()
        .filter_map(|path| {
            disk.open(&path, OpenHow::READ)
                .ok()?
                .read_range(0, LONGEST)
                .ok()
        })
        .any(|text| {
            let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            lines.any(|line| {
                matches!(
                    line,
                    b"/cal_audit/" | b"cal_audit/" | b"/cal_audit" | b"cal_audit"
                )
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: a folder whose path no system accepts counts as missing.
    #[test]
    fn a_folder_whose_path_is_too_long_is_not_believed() {
        let (disk, environment) = (Disk::real(), Environment::default());
        let own = folders(&disk, &environment, None);
        let long = PathBuf::from("/a".repeat(500_000));
        assert_eq!(folders(&disk, &environment, Some(&long)).0, own.0);
        let short = Path::new("/not/there");
        assert_eq!(
            folders(&disk, &environment, Some(short)).0.as_deref(),
            Some(short)
        );
    }
}
