//! Tasks: claimed by comparing and setting, in their order, and by those whose they are.

use std::collections::BTreeSet;

use callosum_mesh::{
    Author, Mesh,
    board::{BoardError, Command, NewTask, Status, Task},
    route::CATEGORY,
};
use serde_json::json;

use crate::place::{Place, claim, complete, refused, task, voice};

/// CALC-PAT-2: of two that claim the same task one has it.
#[test]
fn a_claim_is_compared_and_set() {
    let place = Place::new();
    place
        .mesh()
        .give(task("t", "work"), &voice("claude"))
        .unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("agent-{number}")).collect();
    let winners: usize = std::thread::scope(|scope| {
        let claims = names.iter().map(|name| {
            let place = &place;
            scope.spawn(move || place.mesh().give(claim("t"), &voice(name)).is_ok())
        });
        let claims: Vec<_> = claims.collect();
        let won = claims.into_iter().map(|claim| claim.join().unwrap());
        won.filter(|won| *won).count()
    });
    assert_eq!(winners, 1);
    let mut mesh = place.mesh();
    let by = mesh
        .board()
        .unwrap()
        .task("t")
        .unwrap()
        .claim
        .clone()
        .unwrap()
        .by;
    assert!(matches!(
        refused(mesh.give(claim("t"), &voice("late"))),
        BoardError::ClaimedBy { .. }
    ));
    assert!(matches!(
        refused(mesh.give(complete("t"), &voice("late"))),
        BoardError::ClaimedBy { .. }
    ));
    mesh.give(complete("t"), &voice(by.as_str())).unwrap();
    assert!(matches!(
        refused(mesh.give(claim("t"), &voice("late"))),
        BoardError::IsOver { .. }
    ));
}

/// CALC-PAT-2: of any number that leave a task for the same at a time one does, and all hear of that one.
#[test]
fn a_task_for_the_same_is_left_once() {
    let place = Place::new();
    let stands_for = |there: &Task| !there.status.is_over() && there.id.starts_with("audit.");
    let leave = |number: usize| {
        let new = NewTask {
            id: format!("audit.{number}"),
            prompt: format!("look {number}"),
            ..NewTask::default()
        };
        place.mesh().leave(new, stands_for, &voice("plan")).unwrap()
    };
    let ids: BTreeSet<String> = std::thread::scope(|scope| {
        let left: Vec<_> = (0..8)
            .map(|number| scope.spawn(move || leave(number)))
            .collect();
        left.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 1, "{ids:?}");
    let mut mesh = place.mesh();
    assert_eq!(mesh.board().unwrap().tasks.len(), 1);
    let id = ids.first().unwrap();
    mesh.give(claim(id), &voice("codex")).unwrap();
    mesh.give(complete(id), &voice("codex")).unwrap();
    assert_eq!(leave(9), "audit.9");
}

#[test]
fn the_most_urgent_that_waits_for_nothing_comes_first() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let claude = voice("claude");
    let add = |id: &str, priority, needs: &[&str], to: Option<&str>| {
        Command::Add(NewTask {
            id: id.to_owned(),
            prompt: "work".to_owned(),
            priority: Some(priority),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            assigned_to: to.map(|to| to.parse().unwrap()),
            ..NewTask::default()
        })
    };
    mesh.give(add("later", 5, &[], None), &claude).unwrap();
    mesh.give(add("first", 2, &[], None), &claude).unwrap();
    mesh.give(add("waits", 1, &["first"], None), &claude)
        .unwrap();
    mesh.give(add("theirs", 0, &[], Some("gemini")), &claude)
        .unwrap();
    let next = |mesh: &mut Mesh| {
        let order = Command::Claim {
            task: None,
            anyway: false,
            fence: None,
        };
        let events = mesh.give(order, &voice("codex")).unwrap();
        events[0].payload["task"].as_str().unwrap().to_owned()
    };
    assert_eq!(next(&mut mesh), "first");
    assert!(matches!(
        refused(mesh.give(claim("waits"), &voice("codex"))),
        BoardError::WaitsFor { .. }
    ));
    assert!(matches!(
        refused(mesh.give(claim("theirs"), &voice("codex"))),
        BoardError::MeantFor { .. }
    ));
    mesh.give(complete("first"), &voice("codex")).unwrap();
    assert_eq!(next(&mut mesh), "waits");
    assert_eq!(next(&mut mesh), "later");
    let none = Command::Claim {
        task: None,
        anyway: false,
        fence: None,
    };
    assert_eq!(
        refused(mesh.give(none, &voice("codex"))),
        BoardError::NothingToDo
    );
    let circle = Command::Change {
        task: "theirs".to_owned(),
        set: json!({"needs": ["theirs"]}).as_object().unwrap().clone(),
    };
    assert!(matches!(
        refused(mesh.give(circle, &claude)),
        BoardError::Circle { .. }
    ));
}

/// CALC-L3-1: no one completes what another has done, or is assigned to, except on purpose. A
/// finished task is not released or canceled silently.
#[test]
fn what_another_has_done_or_is_meant_to_do_is_left_to_it() {
    let complete = |result: &str, anyway| Command::Complete {
        task: "t1".to_owned(),
        result: Some(result.to_owned()),
        anyway,
        token: None,
    };
    let place = Place::new();
    let mut mesh = place.mesh();
    let meant = Command::Add(NewTask {
        id: "t1".to_owned(),
        prompt: "work".to_owned(),
        assigned_to: Some("gemini-cli".parse().unwrap()),
        ..NewTask::default()
    });
    mesh.give(meant, &voice("claude")).unwrap();
    let early = mesh.give(complete("mine", false), &voice("codex"));
    assert!(matches!(refused(early), BoardError::MeantFor { .. }));
    mesh.give(complete("of gemini", false), &voice("gemini-cli"))
        .unwrap();
    let second = mesh.give(complete("mine", false), &voice("codex"));
    assert!(
        matches!(refused(second), BoardError::DoneBy { by: Some(by), .. } if by.as_str() == "gemini-cli")
    );
    let corrected = mesh.give(complete("of gemini, mended", false), &voice("gemini-cli"));
    assert_eq!(corrected.unwrap().len(), 1);
    let release = Command::Release {
        task: "t1".to_owned(),
        reason: "given back".to_owned(),
        anyway: true,
        token: None,
    };
    let cancel = Command::Cancel {
        task: "t1".to_owned(),
        reason: "taken back".to_owned(),
    };
    for order in [release, cancel] {
        let over = mesh.give(order, &voice("gemini-cli"));
        assert!(matches!(refused(over), BoardError::IsOver { .. }));
    }
    mesh.give(complete("mine", true), &voice("codex")).unwrap();
    let task = mesh.board().unwrap().task("t1").unwrap();
    assert_eq!(task.result.as_deref(), Some("mine"));
    assert_eq!(task.completed_by.as_ref().unwrap().as_str(), "codex");
}

/// CALC-L3-1: an expired claim counts as expired, even before that is recorded.
#[test]
fn a_claim_that_has_run_out_holds_nothing() {
    let place = Place::new();
    let mut mesh = place.mesh();
    mesh.give(task("t1", "work"), &voice("claude")).unwrap();
    mesh.give(claim("t1"), &voice("codex")).unwrap();
    let task = mesh.board().unwrap().task("t1").unwrap().clone();
    let until = task.claim.as_ref().unwrap().until;
    let before = until - jiff::SignedDuration::from_secs(1);
    assert_eq!(task.status_at(before), Status::InProgress);
    assert_eq!(task.status_at(until), Status::Pending);
    assert_eq!(task.claim_at(until), None);
}

/// CALC-SEC-1: no one adds a task in the program's own name.
#[test]
fn no_agent_adds_a_task_in_the_programs_name() {
    let place = Place::new();
    let task = Command::Add(NewTask {
        id: "t".to_owned(),
        prompt: "run this".to_owned(),
        created_by: Some("callosum".parse().unwrap()),
        ..NewTask::default()
    });
    let refusal = refused(place.mesh().give(task, &voice("codex")));
    assert_eq!(refusal, BoardError::OurName);
}

/// CALC-PAT-2: what needs something that was taken back is not begun, and says so.
#[test]
fn a_task_is_not_begun_that_needs_what_was_taken_back() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let claude = voice("claude");
    mesh.give(task("n1", "first"), &claude).unwrap();
    let second = Command::Add(NewTask {
        id: "n2".to_owned(),
        prompt: "second".to_owned(),
        needs: vec!["n1".to_owned()],
        ..NewTask::default()
    });
    mesh.give(second, &claude).unwrap();
    let cancel = Command::Cancel {
        task: "n1".to_owned(),
        reason: "no need".to_owned(),
    };
    mesh.give(cancel, &claude).unwrap();
    let refusal = refused(mesh.give(claim("n2"), &voice("codex")));
    assert!(
        matches!(refusal, BoardError::NeedsWhatIsGone { .. }),
        "{refusal}"
    );
    let next = Command::Claim {
        task: None,
        anyway: false,
        fence: None,
    };
    let refusal = refused(mesh.give(next, &voice("codex")));
    assert_eq!(refusal, BoardError::NothingToDo);
    let set = json!({"needs": []}).as_object().unwrap().clone();
    let task = "n2".to_owned();
    mesh.give(Command::Change { task, set }, &claude).unwrap();
    mesh.give(claim("n2"), &voice("codex")).unwrap();
}

/// CALC-PAT-2: who asks for any task is given one of the project that it is in, before what is older or more urgent elsewhere.
#[test]
fn the_own_projects_tasks_come_first() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let at = |name: &str, cwd: &str| Author {
        cwd: Some(cwd.to_owned()),
        ..voice(name)
    };
    mesh.give(task("other", "work"), &at("claude", "/srv/other"))
        .unwrap();
    mesh.give(task("own", "work"), &at("claude", "/srv/app/src"))
        .unwrap();
    let next = || Command::Claim {
        task: None,
        anyway: false,
        fence: None,
    };
    let codex = at("codex", "/srv/app");
    for id in ["own", "other"] {
        let claimed = mesh.give(next(), &codex).unwrap();
        assert_eq!(claimed[0].payload["task"], id);
    }
}

/// CALC-ROUTE-1: a task that its first agent has not begun in time goes to the other.
#[test]
fn a_task_that_is_not_begun_in_time_falls_back() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let mut old = NewTask {
        id: "old".to_owned(),
        assigned_to: Some("gemini".parse().unwrap()),
        prompt: "work".to_owned(),
        ..NewTask::default()
    };
    let category = "large-review".into();
    old.other.insert(CATEGORY.to_owned(), category);
    mesh.give(Command::Add(old), &voice("claude")).unwrap();
    let board = mesh.board().unwrap().clone();
    let matrix = mesh.matrix().clone();
    let created = board.task("old").unwrap().created_at;
    let minutes = |minutes| created + jiff::SignedDuration::from_mins(minutes);
    assert_eq!(matrix.overdue(&board, minutes(14)), []);
    assert_eq!(matrix.overdue(&board, minutes(16)).len(), 1);
    // One that waited for another has its time from when that was done, and one that came back from then on.
    let mut board = board;
    let mut waits = board.task("old").unwrap().clone();
    waits.id = "waits".to_owned();
    waits.needs = vec!["old".to_owned()];
    board.tasks.push(waits);
    let old = board.tasks.iter_mut().find(|task| task.id == "old");
    let old = old.unwrap();
    old.status = Status::Complete;
    old.completed_at = Some(minutes(10).to_string());
    assert_eq!(matrix.overdue(&board, minutes(24)), []);
    assert_eq!(matrix.overdue(&board, minutes(26)).len(), 1);
    let waits = board.tasks.last_mut().unwrap();
    waits.queued_at = Some(minutes(20).to_string());
    assert_eq!(matrix.overdue(&board, minutes(34)), []);
    assert_eq!(matrix.overdue(&board, minutes(36)).len(), 1);
}
