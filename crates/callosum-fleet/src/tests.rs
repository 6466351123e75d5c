//! Guarantees of replication and claims, with real logs and a server in memory.

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

use super::{
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
        fleet.sync(&mut self.mesh, &mut self.server, Duration::ZERO)
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

/// CALC-FUT-1: a task of one machine is done on another, under its own paths.
#[test]
fn a_task_crosses_with_paths_that_hold_there() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "fix /home/one/app/src/x.rs, see /home/one/notes");
    sync_all(&mut [&mut one, &mut two]);
    let task = two.task("t");
    assert_eq!(task.prompt, "fix src/x.rs, see ~/notes");
    assert_eq!(task.cwd.as_deref(), Some("/home/two/app/src"));
    assert!(task.is_shared && one.task("t").is_shared);
    two.claim("t").unwrap();
    two.complete("t", "done").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(one.task("t").status, Status::Complete);
    assert_eq!(one.task("t").result.as_deref(), Some("done"));
    for (_, body) in cluster.messages() {
        let text = String::from_utf8(body).unwrap();
        assert!(!text.contains("/home/"), "{text}");
    }
    let machine = two.events().into_iter().find(|event| event.from.is_some());
    assert_eq!(machine.unwrap().machine, "ana@one");
}

/// CALC-FUT-1: what is not of the list stays here, and so does what happens in other repositories.
#[test]
fn files_fields_and_other_repositories_do_not_cross() {
    let (cluster, mut one, mut two) = pair();
    let voice = one.voice();
    let other = Author {
        cwd: Some("/home/one/private".to_owned()),
        ..voice.clone()
    };
    let task = NewTask {
        id: "private".to_owned(),
        prompt: "mine".to_owned(),
        ..NewTask::default()
    };
    one.mesh.give(Command::Add(task), &other).unwrap();
    let field = Command::SetField {
        key: "account_state".to_owned(),
        value: Some("field".into()),
    };
    one.mesh.give(field, &voice).unwrap();
    let custom = callosum_mesh::event::Draft::new(
        "agent.task_complete".parse().unwrap(),
        "codex".parse().unwrap(),
    );
    let durability = callosum_mesh::journal::Durability::Logged;
    one.mesh.publish(custom, durability).unwrap();
    for path in ["/home/one/app/src/x.rs", "/home/one/private/x.rs"] {
        let lease = Command::Lease {
            path: path.to_owned(),
            why: None,
            anyway: false,
        };
        one.mesh.give(lease, &voice).unwrap();
    }
    sync_all(&mut [&mut one, &mut two]);
    let events = two.events();
    let topics: Vec<&str> = events
        .iter()
        .filter(|event| event.from.is_some())
        .map(|event| event.topic.as_str())
        .collect();
    assert_eq!(topics, ["calc.lease.taken"]);
    let board = two.mesh.board().unwrap();
    assert_eq!(board.leases[0].path, "/home/two/app/src/x.rs");
    assert!(!one.task("private").is_shared);
    assert_eq!(cluster.messages().len(), 1);
}

/// CALC-FUT-1: of any number of machines that claim a task at once one has it.
#[test]
fn one_machine_gets_a_task_and_none_without_the_server() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let fence = two.claim("t").unwrap();
    assert_eq!(one.claim("t"), Err("held".to_owned()));
    // Its own agents, who ask the board alone, do not get it either.
    for machine in [&mut one, &mut two] {
        let voice = Author {
            session_id: Some("another".to_owned()),
            ..machine.voice()
        };
        let order = Command::Claim {
            task: Some("t".to_owned()),
            anyway: true,
            fence: None,
        };
        let refused = machine.mesh.give(order, &voice);
        assert!(
            matches!(refused, Err(MeshError::Refused(BoardError::Shared { .. }))),
            "{refused:?}"
        );
    }
    cluster.set_down(true);
    one.add("u", "work");
    assert!(one.claim("t").is_err());
    // A task that no other machine has seen is this machine's own.
    one.give_claim("u", None).unwrap();
    cluster.set_down(false);
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.claim("u"), Err("held".to_owned()));
    assert!(one.task("u").fence > 0);
    assert_eq!(two.task("t").fence, fence);
    // The claim that was made before the task was shared can be completed.
    one.complete("u", "done").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.task("u").status, Status::Complete);
}

/// CALC-FUT-1: a claim ends by the server's clock, and what comes under an older token counts nowhere.
#[test]
fn what_a_fenced_machine_does_late_is_refused_on_all() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let old = one.claim("t").unwrap();
    assert_eq!(two.claim("t"), Err("held".to_owned()));
    cluster.pass(CLAIM + SignedDuration::from_secs(1));
    let new = two.claim("t").unwrap();
    assert!(new > old);
    // It has not heard of it, and completes the task.
    one.complete("t", "late").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    for machine in [&mut one, &mut two] {
        let task = machine.task("t");
        assert_eq!(task.status, Status::InProgress, "{}", machine.name);
        assert_eq!(task.fence, new);
    }
    two.complete("t", "right").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    for machine in [&mut one, &mut two] {
        assert_eq!(machine.task("t").result.as_deref(), Some("right"));
    }
    let settled = claims::settle(
        &mut one.server,
        "t",
        &one.membership.origin,
        old,
        State::Complete,
    );
    assert!(matches!(settled, Ok(Settled::Lost(Some(_)))), "{settled:?}");
}

/// CALC-FUT-1: of two changes of a key by machines that do not see each other, the later counts on both.
#[test]
fn machines_agree_which_of_two_changes_counts() {
    let (_cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    for (machine, priority) in [(&mut one, 1), (&mut two, 2)] {
        let set = [("priority".to_owned(), priority.into())]
            .into_iter()
            .collect();
        let order = Command::Change {
            task: "t".to_owned(),
            set,
        };
        let voice = machine.voice();
        machine.mesh.give(order, &voice).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!((one.task("t").priority, two.task("t").priority), (2, 2));
}

/// CALC-FUT-1: a server that lost its keys counts revisions again, and tokens grow all the same.
#[test]
fn a_token_is_above_all_that_a_board_has_seen() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let old = one.claim("t").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    cluster.lose_keys();
    let new = two.claim("t").unwrap();
    assert!(new > old, "{new} after {old}");
    sync_all(&mut [&mut one, &mut two]);
    for machine in [&mut one, &mut two] {
        assert_eq!(machine.task("t").fence, new);
    }
}

/// CALC-FUT-1: after a partition each machine has each event once, in order.
#[test]
fn nothing_is_lost_and_nothing_comes_twice() {
    let (cluster, mut one, mut two) = pair();
    one.add("a", "work");
    sync_all(&mut [&mut one, &mut two]);
    cluster.set_down(true);
    for number in 0..300 {
        one.add(&format!("one-{number}"), "work");
        two.add(&format!("two-{number}"), "work");
    }
    let error = one.sync().unwrap_err();
    assert!(error.is_offline(), "{error}");
    cluster.set_down(false);
    sync_all(&mut [&mut one, &mut two]);
    cluster.forget_acknowledgements();
    sync_all(&mut [&mut one, &mut two]);
    for (machine, other) in [(&one, &two), (&two, &one)] {
        let received = machine.received();
        assert_eq!(received.len(), 1);
        let places = &received[&other.membership.origin];
        assert!(places.is_sorted_by(|one, other| one < other));
    }
    let ids = |machine: &mut Machine| {
        let tasks = &machine.mesh.board().unwrap().tasks;
        let mut ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&mut one), ids(&mut two));
    assert_eq!(ids(&mut one).len(), 601);
}

/// CALC-FUT-1: a machine whose disk is full or fails, at any call, has each event once when that is over.
#[test]
fn a_disk_without_room_only_delays_what_comes() {
    for fault in [Fault::Full, Fault::ForGood, Fault::SyncForGood] {
        let mut failures = 0;
        for calls in 0..60 {
            let cluster = FakeCluster::default();
            let mut one = Machine::join("one", &cluster);
            let faulty = FaultyDisk::new(
                MemoryDisk::with(&Image::with_folder("/state")),
                fault,
                usize::MAX,
            );
            let mut two = Machine::on("two", &cluster, &faulty.disk(), Path::new("/state/mesh"));
            for number in 0..3 {
                one.add(&format!("one-{number}"), "work");
                two.add(&format!("two-{number}"), "work");
            }
            one.sync().unwrap();
            faulty.fail_after(calls);
            let failed = two.sync().is_err();
            faulty.mend();
            failures += usize::from(failed);
            assert!(!failed || faulty.has_failed(), "{fault:?} {calls}");
            sync_all(&mut [&mut one, &mut two]);
            for (machine, other) in [(&one, &two), (&two, &one)] {
                let received = machine.received();
                let places = &received[&other.membership.origin];
                assert!(
                    places.is_sorted_by(|one, other| one < other),
                    "{fault:?} {calls}: {places:?}"
                );
            }
            for machine in [&mut one, &mut two] {
                let tasks = machine.mesh.board().unwrap().tasks.len();
                assert_eq!(tasks, 6, "{fault:?} {calls} {}", machine.name);
            }
        }
        assert!(failures > 0, "{fault:?} never counted");
    }
}

/// CALC-FUT-1: the log is the truth: what a server loses is sent again.
#[test]
fn a_server_that_lost_its_end_gets_it_again() {
    let (cluster, mut one, mut two) = pair();
    for number in 0..3 {
        one.add(&format!("t{number}"), "work");
        one.sync().unwrap();
    }
    assert_eq!(cluster.messages().len(), 3);
    two.sync().unwrap();
    cluster.lose(2);
    let mut three = Machine::join("three", &cluster);
    sync_all(&mut [&mut one, &mut two, &mut three]);
    for machine in [&mut two, &mut three] {
        assert_eq!(machine.mesh.board().unwrap().tasks.len(), 3);
        let received = machine.received();
        let places = &received[&one.membership.origin];
        assert_eq!(places.len(), 3, "{places:?}");
    }
}

/// CALC-FUT-1: what is missing is waited for as long as the server has it; a gap that stays is counted.
#[test]
fn a_gap_is_waited_for_until_it_cannot_be_closed() {
    let (cluster, mut one, mut two) = pair();
    for number in 0..3 {
        one.add(&format!("t{number}"), "work");
        one.sync().unwrap();
    }
    // The first message is on its way a second time, while the others come.
    cluster.hold_back(&two.membership.origin, 1);
    two.sync().unwrap();
    assert!(two.received().is_empty());
    cluster.forget_acknowledgements();
    two.sync().unwrap();
    assert_eq!(two.received()[&one.membership.origin].len(), 3);
    // The stream drops its oldest messages, as by a limit of its age.
    cluster.drop_oldest(2);
    let mut three = Machine::join("three", &cluster);
    three.sync().unwrap();
    assert_eq!(three.received()[&one.membership.origin].len(), 1);
    let folder = three.mesh.folder().to_owned();
    let status = super::FleetStatus::read(&three.disk, &folder).unwrap();
    assert_eq!(status.gaps, 1);
}

/// A summary that is lost is made again from the log.
#[test]
fn what_was_received_is_known_without_its_summary() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let known = two.mesh.received().unwrap();
    let marks = two.mesh.folder().join("marks/received");
    assert!(two.disk.remove_file(&marks).unwrap());
    cluster.forget_acknowledgements();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.mesh.received().unwrap(), known);
    assert_eq!(two.received()[&one.membership.origin].len(), 1);
}

/// CALC-FUT-1: a machine writes to its own subject, and what it sends is held to the list again.
#[test]
fn what_another_program_sends_is_checked() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    sync_all(&mut [&mut one, &mut two]);
    let names = Names {
        user: "eve".to_owned(),
        machine: "evil".to_owned(),
    };
    let event = |seq: u64, topic: &str, path: &str, payload: serde_json::Value| {
        serde_json::json!({
            "seq": seq, "id": format!("e{seq}"), "topic": topic, "source": "codex",
            "timestamp": "2026-01-02T03:04:05Z", "repository": "github.com/acme/app",
            "path": path, "payload": payload,
        })
    };
    let until = "2099-01-02T03:04:05Z";
    let envelope = |names: &Names| {
        let envelope = serde_json::json!({
            "v": 1, "origin": "evil-log", "user": names.user, "machine": names.machine, "previous": 0,
            "events": [
                event(1, "calc.lease.taken", "../../etc/passwd", serde_json::json!({"until": until})),
                event(2, "calc.bridge.field", "src", serde_json::json!({"key": "x", "value": 1})),
                event(3, "calc.fleet.unshared", "src", serde_json::json!({})),
                event(4, "calc.task.claimed", "src", serde_json::json!({"task": "t", "by": "codex", "until": until})),
                event(5, "calc.lease.taken", "src/x.rs", serde_json::json!({"until": until})),
            ],
        });
        serde_json::to_vec(&envelope).unwrap()
    };
    let subject = super::membership::subject("team", &names, "evil-log");
    // As another machine, on a subject that is not its own.
    cluster.forge(&subject, envelope(&one.membership.names));
    cluster.forge(&subject, envelope(&names));
    cluster.forge(&subject, b"no JSON".to_vec());
    two.sync().unwrap();
    let events = two.events();
    let foreign: Vec<&Event> = events
        .iter()
        .filter(|event| {
            event
                .from
                .as_ref()
                .is_some_and(|from| from.origin == "evil-log")
        })
        .collect();
    let topics: Vec<&str> = foreign.iter().map(|event| event.topic.as_str()).collect();
    let refused = "calc.fleet.refused";
    assert_eq!(
        topics,
        [refused, refused, refused, refused, "calc.lease.taken"]
    );
    assert!(foreign.iter().all(|event| event.machine == "eve@evil"));
    let until = two.mesh.board().unwrap().leases[0].until;
    let now = two.mesh.journal().now();
    assert!(until <= now + CLAIM + CLAIM, "{until}");
    assert!(two.task("t").is_shared);
    assert_eq!(two.task("t").status, Status::Pending);
}

/// Two tasks with one id stay on their machines.
#[test]
fn an_id_that_two_machines_gave_away_is_not_shared() {
    let (_cluster, mut one, mut two) = pair();
    one.add("t", "one's");
    two.add("t", "two's");
    sync_all(&mut [&mut one, &mut two]);
    assert!(one.task("t").is_shared);
    assert!(!two.task("t").is_shared);
    assert_eq!(two.task("t").prompt, "two's");
    // Each is claimed on its machine, and neither claim touches the other task.
    two.give_claim("t", None).unwrap();
    one.claim("t").unwrap();
    sync_all(&mut [&mut one, &mut two]);
    assert_eq!(two.task("t").fence, 0);
    assert!(!two.task("t").claim.unwrap().is_foreign());
}

/// A copy of a log on another machine is found before it sends anything.
#[test]
fn a_log_that_is_not_the_one_that_sent_before_sends_nothing() {
    let (cluster, mut one, mut two) = pair();
    one.add("t", "work");
    one.sync().unwrap();
    // The same names and log id, with other events.
    two.membership = one.membership.clone();
    two.add("x", "other work");
    let before = cluster.messages().len();
    let error = two.sync().unwrap_err();
    assert!(matches!(error, FleetError::Forked { .. }), "{error}");
    assert_eq!(cluster.messages().len(), before);
}
