//! Guarantees of replication and claims, with real logs and a server in memory.

mod crossing;
mod replication;
mod sharing;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::{
    Author, Mesh, MeshError,
    board::{BoardError, CLAIM, Command, NewTask, Status, Task},
    event::Event,
    journal::Cursor,
};
use callosum_testkit::disk::{Fault, FaultyDisk, Image, MemoryDisk};
use jiff::SignedDuration;

use crate::{
    Fleet, FleetError, Located, Membership, Names, Places, Repository, Round,
    claims::{self, Acquired, Holder, Settled, State},
    fake_server::{FakeCluster, FakeServer},
};

/// One repository, in another folder on each machine.
struct OneRepository {
    root: PathBuf,
    home: PathBuf,
}

fn app() -> Repository {
    Repository::of_remote("git@github.com:acme/app.git").unwrap()
}

impl Places for OneRepository {
    fn locate(&mut self, path: &Path) -> Option<Located> {
        path.starts_with(&self.root).then(|| Located {
            repository: app(),
            root: self.root.clone(),
        })
    }

    fn checkout(&mut self, repository: &Repository) -> Option<PathBuf> {
        (*repository == app()).then(|| self.root.clone())
    }

    fn home(&self) -> Option<&Path> {
        Some(&self.home)
    }
}

struct Machine {
    name: &'static str,
    mesh: Mesh,
    server: FakeServer,
    membership: Membership,
    places: OneRepository,
    disk: Disk,
    _folder: Option<tempfile::TempDir>,
}

impl Machine {
    fn join(name: &'static str, cluster: &FakeCluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mesh = folder.path().join("mesh");
        Self {
            _folder: Some(folder),
            ..Self::on(name, cluster, &Disk::real(), &mesh)
        }
    }

    /// The same on another disk.
    fn on(name: &'static str, cluster: &FakeCluster, disk: &Disk, mesh: &Path) -> Self {
        let disk = disk.clone();
        let (clock, ids) = (Clock::system(), Ids::random());
        let mesh = Mesh::open(&disk, &clock, &ids, mesh, "host").unwrap();
        let origin = mesh.journal().origin().to_owned();
        Self {
            name,
            server: cluster.connect(&origin),
            membership: Membership {
                workspace: "team".to_owned(),
                names: Names {
                    user: "ana".to_owned(),
                    machine: name.to_owned(),
                },
                origin,
                since: 0,
            },
            places: OneRepository {
                root: PathBuf::from(format!("/home/{name}/app")),
                home: PathBuf::from(format!("/home/{name}")),
            },
            mesh,
            disk,
            _folder: None,
        }
    }

    fn sync(&mut self) -> Result<Round, FleetError> {
        let repositories = vec!["github.com/acme/*".to_owned()];
        let folder = self.mesh.folder().to_owned();
        let membership = self.membership.clone();
        let mut fleet = Fleet::new(
            &self.disk,
            &folder,
            membership,
            repositories,
            &mut self.places,
        )?;
        fleet.sync(&mut self.mesh, &mut self.server)
    }

    /// Opens its log with a clock that is wrong.
    fn clock_is(&mut self, time: &str) {
        let clock = Clock::fixed(time.parse().unwrap(), Duration::ZERO);
        let folder = self.mesh.folder().to_owned();
        self.mesh = Mesh::open(&self.disk, &clock, &Ids::random(), &folder, "host").unwrap();
    }

    /// One round, as a daemon does them.
    fn round(&mut self) -> Round {
        let repositories = vec!["github.com/acme/*".to_owned()];
        let folder = self.mesh.folder().to_owned();
        let membership = self.membership.clone();
        let places = &mut self.places;
        let mut fleet = Fleet::new(&self.disk, &folder, membership, repositories, places).unwrap();
        let round = fleet.round(&mut self.mesh, &mut self.server, Duration::ZERO);
        round.unwrap()
    }

    fn voice(&self) -> Author {
        Author {
            session_id: Some(format!("s-{}", self.name)),
            cwd: Some(format!("/home/{}/app/src", self.name)),
            ..Author::of("codex".parse().unwrap())
        }
    }

    fn add(&mut self, id: &str, prompt: &str) {
        let task = NewTask {
            id: id.to_owned(),
            prompt: prompt.to_owned(),
            ..NewTask::default()
        };
        let voice = self.voice();
        self.mesh.give(Command::Add(task), &voice).unwrap();
    }

    /// Claims a task as the program does: at the server first.
    fn claim(&mut self, id: &str) -> Result<u64, String> {
        let holder = Holder {
            origin: self.membership.origin.clone(),
            names: self.membership.names.clone(),
            agent: "codex".to_owned(),
            session_id: self.voice().session_id,
        };
        let fence = self.task(id).fence;
        let acquired = claims::acquire(&mut self.server, id, &holder, fence, false, CLAIM);
        let Acquired::Token(fence) = acquired.map_err(|error| error.to_string())? else {
            return Err("held".to_owned());
        };
        let given = self.give_claim(id, Some(fence));
        given.map_err(|error| error.to_string())?;
        Ok(fence)
    }

    fn give_claim(&mut self, id: &str, fence: Option<u64>) -> Result<Vec<Event>, MeshError> {
        let voice = self.voice();
        let order = Command::Claim {
            task: Some(id.to_owned()),
            anyway: false,
            fence,
        };
        self.mesh.give(order, &voice)
    }

    fn complete(&mut self, id: &str, result: &str) -> Result<Vec<Event>, MeshError> {
        let voice = self.voice();
        let order = Command::Complete {
            task: id.to_owned(),
            result: Some(result.to_owned()),
            anyway: false,
            token: None,
        };
        self.mesh.give(order, &voice)
    }

    fn task(&mut self, id: &str) -> Task {
        self.mesh.board().unwrap().task(id).unwrap().clone()
    }

    fn events(&self) -> Vec<Event> {
        let mut reader = self.mesh.journal().read_after(&Cursor::START);
        let mut events = Vec::new();
        loop {
            let batch = reader.next_batch(1000).unwrap();
            events.extend(batch.events);
            if batch.is_end {
                return events;
            }
        }
    }

    /// The places in its own log of the events that this machine has of each other one.
    fn received(&self) -> BTreeMap<String, Vec<u64>> {
        let mut received: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for from in self.events().into_iter().filter_map(|event| event.from) {
            received.entry(from.origin).or_default().push(from.seq);
        }
        received
    }
}

fn pair() -> (FakeCluster, Machine, Machine) {
    let cluster = FakeCluster::default();
    let one = Machine::join("one", &cluster);
    let two = Machine::join("two", &cluster);
    (cluster, one, two)
}

fn sync_all(machines: &mut [&mut Machine]) {
    for _ in 0..2 {
        for machine in &mut *machines {
            machine.sync().unwrap();
        }
    }
}
