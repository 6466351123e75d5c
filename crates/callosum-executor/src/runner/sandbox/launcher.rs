//! [`Confiner`]: starts an executor's program through this one, which gives up its privileges.

use std::{
    borrow::Cow,
    collections::HashMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, FileStat, Scratch},
    process::{Ending, Launch, Run, SpawnError, Stream},
};
use callosum_sandbox::{
    Access, ForkServer, Layers, MountPoint, Outcome, SandboxSpec, create_folder,
};

use callosum_sandbox::{
    Names, Policy, Protected, Proxy, Reached, Refused, RequestedPaths, Surface, System,
    SystemFolders, Upstream, Whitelisted, decide, leads_outside, nested, places, resolve, wished,
};

use super::{
    client_home::OwnFolder,
    client_requirements::{Needs, value},
    client_settings::for_an_analysis,
};
use crate::{
    client::{Client, OWN},
    registry::Executor,
    runner::{ExecutionEnvironment, RunError},
    template::Template,
    transport::Transport,
};

/// Largest file that an executor gets a copy of, in bytes.
const LARGEST_COPY: u64 = 32 * 1024 * 1024;

/// For so long the locks are known that were found in a folder: of many short tasks not each looks for them.
const LOCKS_KNOWN: Duration = Duration::from_secs(1);

/// State for confining executors on this machine.
#[derive(Debug)]
pub struct Confiner {
    /// Server that starts them.
    server: ForkServer,
    system: System,
    protected: Protected,
    names: Names,
    upstream: Option<Upstream>,
    /// An empty folder, which becomes the root of everybody's own file system.
    room: OnceLock<Scratch>,
    /// Folders that were found for a `PATH` and a home folder, which seldom differ.
    folders: Mutex<Vec<(Around, SystemFolders)>>,
    /// The folders of locks that were found in a folder, and when.
    locks: Mutex<HashMap<PathBuf, (Instant, Vec<PathBuf>)>>,
}

/// Key of the system folders: the value of `PATH`, and the home folder.
type Around = (Option<OsString>, Option<PathBuf>);

/// Paths that an executor sees, and links from other names to them.
type Shown = (Vec<MountPoint>, Vec<(PathBuf, PathBuf)>);

impl Confiner {
    /// Creates one that starts executors through `server`.
    ///
    /// `system` is the detected features of this machine. No executor may write `protected`.
    /// `names` resolves the hosts of entries.
    pub fn new(server: ForkServer, system: System, protected: Protected, names: Names) -> Self {
        Self {
            server,
            system,
            protected,
            names,
            upstream: None,
            room: OnceLock::new(),
            folders: Mutex::default(),
            locks: Mutex::default(),
        }
    }

    /// The same, which reaches other hosts by way of a proxy.
    #[must_use]
    pub fn by_way_of(self, upstream: Option<Upstream>) -> Self {
        Self { upstream, ..self }
    }

    /// Returns the sandbox features of this machine.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Returns how far an executor with this environment is confined here, or why it may not run.
    pub fn reach(
        &self,
        executor: &Executor,
        environment: &[(OsString, OsString)],
        disk: &Disk,
    ) -> Result<Reached, Refused> {
        let needs = Needs::with_settings(executor, environment, disk);
        let hosts = hosts(executor, &needs);
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let policy = executor.confinement.unwrap_or_default();
        if !executor.is_remote() {
            let mut reached = decide(policy, &hosts, &self.system)?;
            let keeps_its_folder = !needs.kept.is_empty();
            if policy != Policy::Off && !reached.layers.namespaces && keeps_its_folder {
                let what = "a folder of its own, so it writes to the user's";
                reached.missing.push(what.to_owned());
            }
            return Ok(reached);
        }
        // The process is this program, which talks to that server and to no other.
        let mut reached = decide(policy, &[], &self.system)?;
        reached.layers.network = false;
        reached.layers.sockets = false;
        reached.hosts = executor.endpoint.iter().cloned().collect();
        Ok(reached)
    }

    /// Runs `launch` as the executor's entry allows, until it ends in any way.
    ///
    /// `temporary` is the folder that it may write to.
    pub(crate) fn run(
        &self,
        executor: &Executor,
        launch: Launch,
        surroundings: &ExecutionEnvironment,
        temporary: &Path,
        heard: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Run, RunError> {
        let reached = self
            .reach(executor, &launch.environment, &surroundings.disk)
            .map_err(|refused| RunError::Unconfined {
                executor: executor.id.clone(),
                reason: refused.to_string(),
                advice: (!refused.is_untried).then(|| self.allowing(executor)),
            })?;
        let not_stored = |source: DiskError| RunError::Temporary {
            executor: executor.id.clone(),
            source,
        };
        let not_started = |source| RunError::Spawn {
            executor: executor.id.clone(),
            source,
        };
        let disk = &surroundings.disk;
        let inner = find(&launch, surroundings).map_err(not_started)?;
        let needs = Needs::with_settings(executor, &launch.environment, disk);
        let layers = reached.layers;
        let home = value(&launch.environment, "HOME").map(Path::new);
        let mut wishes = executor.wishes();
        if layers.namespaces || layers.landlock {
            let outside = leads_outside(&wishes, &launch.folder, home, disk);
            if let Some(outside) = outside {
                return Err(RunError::Unconfined {
                    executor: executor.id.clone(),
                    advice: Some(format!(
                        "to allow that, register it again with --allow-read or --allow-write {}",
                        outside.target.display()
                    )),
                    reason: outside.to_string(),
                });
            }
        }
        let mut protected = Cow::Borrowed(&self.protected);
        let mut own_folder = None;
        let mut copied = Vec::new();
        if layers.namespaces {
            wishes.readable.extend(needs.readable.iter().cloned());
            let is_its_own =
                |wish: &String| needs.logins.contains(wish) || needs.kept.contains(wish);
            wishes.writable.retain(|wish| !is_its_own(wish));
            // A variable may name the client's folder seen from the project, which may lead it elsewhere.
            let at = |wish: &String| {
                resolve(wish, &launch.folder, home, disk).ok()?;
                wished(wish, &launch.folder, home)
            };
            let settings: Vec<PathBuf> = needs.settings.iter().filter_map(at).collect();
            let mut shown_as_copies: Vec<PathBuf> = wishes.readable.iter().filter_map(at).collect();
            shown_as_copies.retain(|path| settings.contains(path));
            wishes
                .readable
                .retain(|wish| at(wish).is_none_or(|path| !settings.contains(&path)));
            copied.extend(needs.copied.iter().filter_map(at));
            copied.append(&mut shown_as_copies);
            copied.sort_unstable();
            copied.dedup();
            if let Some(path) = needs.own.as_ref().and_then(at) {
                let logins = needs.logins.iter().filter_map(at);
                let path = under_real_folder(disk, path);
                let own = OwnFolder::lay(disk, &surroundings.temporary, path, logins);
                own_folder = Some(own.map_err(not_stored)?);
            }
        } else {
            let own = needs.kept.iter().chain(&needs.logins);
            let own = own.filter_map(|wish| resolve(wish, &launch.folder, home, disk).ok()?);
            protected = Cow::Owned(self.protected.without(&own.collect::<Vec<_>>()));
            wishes.writable.extend(needs.kept.iter().cloned());
        }
        for wish in wishes.writable.iter().filter(|wish| wish.ends_with('/')) {
            if let Ok(Some(folder)) = resolve(wish, &launch.folder, home, disk) {
                // A folder that cannot be created is not there for the executor either.
                drop(create_folder(&folder));
            }
        }
        let (mut places, links) = if layers.namespaces || layers.landlock {
            let mut programs = vec![inner.clone()];
            programs.extend(server(executor, &launch, surroundings));
            let locks = if layers.namespaces {
                self.locks_in(&wishes, &launch.folder, home, disk)
            } else {
                Vec::new()
            };
            let surface = Surface {
                root: &launch.folder,
                programs: &programs,
                home,
                temporary,
                locks: &locks,
            };
            let folders = self.folders(value(&launch.environment, "PATH"), home, disk);
            places(&wishes, surface, folders, &protected, disk)
        } else {
            Shown::default()
        };
        // Nothing is mounted whose path has a link on it, and the machine's home may be behind one.
        let real = |place: MountPoint| MountPoint {
            source: disk.canonicalize(&place.source).unwrap_or(place.source),
            ..place
        };
        places.extend(own_folder.as_ref().map(|own| real(own.place())));
        let copies = if copied.is_empty() {
            None
        } else {
            let copies = disk.scratch(&surroundings.temporary).map_err(not_stored)?;
            let own = own_folder.as_ref();
            let copied = copied_into(disk, copies.path(), own, copied, &needs.variables);
            places.extend(copied.map_err(not_stored)?.into_iter().map(real));
            Some(copies)
        };
        let room = if layers.namespaces {
            self.room(surroundings).map_err(not_stored)?.to_owned()
        } else {
            PathBuf::new()
        };
        let named = hosts(executor, &needs);
        let gate = (layers.network && !named.is_empty())
            .then(|| disk.scratch(&surroundings.temporary))
            .transpose()
            .map_err(not_stored)?;
        let proxy = gate
            .as_ref()
            .map(|gate| {
                let connections = surroundings.connections.clone();
                let upstream = self.upstream.clone();
                Proxy::open(
                    gate.path(),
                    named,
                    self.names.clone(),
                    upstream,
                    connections,
                )
            })
            .transpose()
            .map_err(|error| RunError::Unconfined {
                executor: executor.id.clone(),
                reason: format!("cannot open the connection to its hosts: {error}"),
                advice: None,
            })?;
        let mut environment = launch.environment;
        if let Some(own) = &own_folder
            && let Some(client) = Client::behind(executor)
        {
            for (name, value) in client.recording {
                let value = match value.strip_prefix(OWN) {
                    Some(name) => own.path().join(name).into_os_string(),
                    None => (*value).into(),
                };
                environment.retain(|(known, _)| known != name);
                environment.push(((*name).into(), value));
            }
        }
        if let Some((name, value)) = sandbox_left_to_us(executor, layers)
            && !environment.iter().any(|(known, _)| known == name)
        {
            environment.push((name.into(), value.into()));
        }
        if let Some(proxy) = &proxy {
            for (name, value) in proxy.variables() {
                environment.retain(|(known, _)| known != name);
                environment.push((name.into(), value.into()));
            }
        }
        let order = SandboxSpec {
            layers,
            room,
            places,
            links,
            listen: proxy.as_ref().map(Proxy::listen).unwrap_or_default(),
            gate: proxy.as_ref().map(|proxy| proxy.gate().to_owned()),
            folder: launch.folder,
            program: inner.clone(),
            arguments: launch.arguments,
            environment,
        };
        let (cancel, input) = (&surroundings.cancel, &launch.input);
        // What its model's server streams is life, also where the program keeps it back until it is whole.
        let pulse = surroundings.connections.pulse();
        let ran = self
            .server
            .run(&order, input, launch.limits, cancel, pulse, heard)
            .map_err(not_started);
        // Reports connections that are still open before the caller takes the list.
        drop(proxy);
        drop(copies);
        if let Some(own_folder) = own_folder {
            if let Some(client) = Client::behind(executor) {
                let stored = surroundings
                    .transcript
                    .read(client, disk, own_folder.source());
                stored.map_err(not_stored)?;
            }
            own_folder
                .take_back(disk, surroundings.clock.now())
                .map_err(not_stored)?;
        }
        let (run, report) = ran?;
        match (run.ending, report.outcome) {
            (Ending::Exited(_) | Ending::Signalled(_), Some(Outcome::Unstarted(error))) => {
                Err(not_started(unstarted(inner, error)))
            }
            (Ending::Exited(_) | Ending::Signalled(_), Some(Outcome::Failed(step, error))) => {
                Err(RunError::Unconfined {
                    executor: executor.id.clone(),
                    reason: format!(
                        "its sandbox failed at {}: {}",
                        step.as_str(),
                        io::Error::from_raw_os_error(error)
                    ),
                    advice: None,
                })
            }
            _ => Ok(run),
        }
    }
}

impl Confiner {
    /// Returns a remedy for an executor that requires more than this machine offers.
    fn allowing(&self, executor: &Executor) -> String {
        let less = format!(
            "with a weaker sandbox: callosum executor register {} --sandbox best-effort",
            executor.id
        );
        match self.system.remedy() {
            Some(remedy) => format!("{remedy}; or, to run it {less}"),
            None => format!("to run it {less}"),
        }
    }

    /// The system's folders as they are shown, looked up once.
    fn folders(
        &self,
        path: Option<&std::ffi::OsStr>,
        home: Option<&Path>,
        disk: &Disk,
    ) -> SystemFolders {
        let around = (path.map(Into::into), home.map(Into::into));
        let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = all.iter().find(|(known, _)| *known == around) {
            return known.clone();
        }
        let path: Vec<PathBuf> = path
            .map(|path| std::env::split_paths(path).collect())
            .unwrap_or_default();
        let found = SystemFolders::shown(&path, home, disk);
        all.push((around, found.clone()));
        found
    }

    /// The folders of locks in the tree and in what an entry names.
    fn locks_in(
        &self,
        wishes: &RequestedPaths,
        root: &Path,
        home: Option<&Path>,
        disk: &Disk,
    ) -> Vec<PathBuf> {
        let named = wishes.readable.iter().chain(&wishes.writable);
        let mut folders: Vec<PathBuf> = named
            .filter_map(|wish| resolve(wish, root, home, disk).ok()?)
            .chain(disk.canonicalize(root).ok())
            .filter(|folder| folder.is_dir())
            .collect();
        folders.sort_unstable();
        // What is in another has been looked through with it.
        folders.dedup_by(|folder, above| folder.starts_with(above));
        let mut all = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for folder in folders {
            let known = all.get(&folder);
            let known = known.filter(|(seen, _)| seen.elapsed() < LOCKS_KNOWN);
            if let Some((_, locks)) = known {
                found.extend_from_slice(locks);
                continue;
            }
            let locks = nested(&folder, disk).locks;
            found.extend_from_slice(&locks);
            all.insert(folder, (Instant::now(), locks));
        }
        found
    }

    /// The folder that everybody's own file system is built in, which stays empty.
    fn room(&self, surroundings: &ExecutionEnvironment) -> Result<&Path, DiskError> {
        if self.room.get().is_none() {
            let made = surroundings.disk.scratch(&surroundings.temporary)?;
            // Where another thread was first, this one's is removed again.
            drop(self.room.set(made));
        }
        Ok(self.room.get().map_or(Path::new(""), Scratch::path))
    }
}

/// Copies files into a folder, and mounts the copies in place of the files; those of the client's
/// own folder are put there. A file that is missing, has another format, or is larger than
/// [`LARGEST_COPY`] is left out; so are the parts that are not the client's own.
fn copied_into(
    disk: &Disk,
    folder: &Path,
    own: Option<&OwnFolder>,
    files: Vec<PathBuf>,
    variables: &[&str],
) -> Result<Vec<MountPoint>, DiskError> {
    let mut places = Vec::new();
    for (number, path) in files.into_iter().enumerate() {
        let is_small_file =
            |stat: FileStat| stat.kind == EntryKind::File && stat.len <= LARGEST_COPY;
        let Some(real) = disk.canonicalize(&path).ok().filter(|real| {
            let stat = disk.stat(real).ok().flatten();
            stat.is_some_and(is_small_file)
        }) else {
            continue;
        };
        let bytes = disk.read(&real).ok();
        let Some(bytes) = bytes.and_then(|bytes| for_an_analysis(&path, &bytes, variables)) else {
            continue;
        };
        let path = under_real_folder(disk, path);
        if let Some(own) = own.filter(|own| path.starts_with(own.path())) {
            own.copy(disk, &path, &bytes)?;
            continue;
        }
        let source = folder.join(number.to_string());
        disk.create(&source, &bytes, 0o600)?;
        places.push(MountPoint {
            source,
            path,
            access: Access::Write,
        });
    }
    Ok(places)
}

/// Returns a path below the real folder; its name stays its own even if it is a link.
fn under_real_folder(disk: &Disk, path: PathBuf) -> PathBuf {
    let folder = path
        .parent()
        .and_then(|folder| disk.canonicalize(folder).ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Finds the program of a server that the started program starts in its turn.
fn server(
    executor: &Executor,
    launch: &Launch,
    surroundings: &ExecutionEnvironment,
) -> Option<PathBuf> {
    if launch.program != surroundings.self_program {
        return None;
    }
    let template = Template::parse(&executor.command_template).ok()?;
    let launch = Launch {
        program: template.program().into(),
        ..launch.clone()
    };
    find(&launch, surroundings).ok()
}

/// Returns the variable that makes an adapter leave the files to us, if we confine them. Its
/// client's own sandbox cannot start within ours: each command in it would fail, without a report.
fn sandbox_left_to_us(executor: &Executor, layers: Layers) -> Option<(&'static str, &'static str)> {
    let are_held = layers.namespaces || layers.landlock;
    let is_adapter = Transport::of(executor) == Some(Transport::Acp);
    let client = Client::behind(executor).filter(|_| are_held && is_adapter)?;
    Some(client.inner_sandbox?.off_by_variable)
}

/// The hosts that an executor may connect to.
fn hosts(executor: &Executor, needs: &Needs) -> Vec<Whitelisted> {
    let named = executor.network.iter();
    let mut hosts: Vec<Whitelisted> = named
        .filter_map(|text| Whitelisted::parse(text).ok())
        .collect();
    for host in &needs.hosts {
        if !hosts.contains(host) {
            hosts.push(host.clone());
        }
    }
    hosts
}

/// The program's file: what the system would find, looked for before anything is started.
fn find(launch: &Launch, surroundings: &ExecutionEnvironment) -> Result<PathBuf, SpawnError> {
    let program = &launch.program;
    let is_there = |path: &PathBuf| {
        let stat = surroundings.disk.canonicalize(path);
        stat.is_ok_and(|path| path.is_file())
    };
    let found = if program.components().count() > 1 || program.is_absolute() {
        Some(launch.folder.join(program)).filter(is_there)
    } else {
        value(&launch.environment, "PATH").and_then(|path| {
            std::env::split_paths(path)
                .map(|folder| launch.folder.join(folder).join(program))
                .find(is_there)
        })
    };
    if !launch.folder.is_dir() {
        return Err(SpawnError::NoFolder {
            folder: launch.folder.clone(),
        });
    }
    found.ok_or_else(|| SpawnError::NotFound {
        program: program.clone(),
    })
}

/// Returns the error of an existing program that did not start.
fn unstarted(program: PathBuf, error: i32) -> SpawnError {
    let source = io::Error::from_raw_os_error(error);
    match source.kind() {
        io::ErrorKind::NotFound => SpawnError::NoInterpreter { program },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { program },
        io::ErrorKind::ArgumentListTooLong => SpawnError::ArgumentsTooLong { program },
        _ => SpawnError::System { program, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-EXE-2: an adapter's client runs without its own sandbox if we confine the files, and no
    /// other executor does.
    #[test]
    fn an_adapter_leaves_the_sandbox_to_us_where_files_are_held() {
        let mut adapter = Executor::cli("c", "codex-acp");
        adapter.protocol = Some("acp".to_owned());
        let held = Layers {
            landlock: true,
            ..Layers::default()
        };
        let off = Some(("INITIAL_AGENT_MODE", "agent-full-access"));
        assert_eq!(sandbox_left_to_us(&adapter, held), off);
        assert_eq!(sandbox_left_to_us(&adapter, Layers::default()), None);
        let mut other = Executor::cli("g", "gemini --acp");
        other.protocol = Some("acp".to_owned());
        assert_eq!(sandbox_left_to_us(&other, held), None);
    }
}
