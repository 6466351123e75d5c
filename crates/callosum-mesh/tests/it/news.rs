//! News for an agent at work in addition to its messages, and notices for a holder of a file.

use callosum_mesh::{
    Author, Mesh,
    board::{Command, NewTask},
    digest::DigestContext,
    event::Draft,
    journal::Durability,
};
use serde_json::{Value, json};

use crate::place::{Place, handed_over, refused, voice};

fn at_work(agent: &str, session: &str) -> Author {
    Author {
        session_id: Some(session.to_owned()),
        ..voice(agent)
    }
}

fn news_text(mesh: &mut Mesh, voice: &Author) -> String {
    let digest = handed_over(mesh, voice, "post-tool-use");
    digest.map(|digest| digest.text).unwrap_or_default()
}

fn add(mesh: &mut Mesh, id: &str, to: &str, by: &str) {
    let order = Command::Add(NewTask {
        id: id.to_owned(),
        prompt: format!("work of {id}"),
        assigned_to: Some(to.parse().expect("a name")),
        ..NewTask::default()
    });
    mesh.give(order, &voice(by)).expect("it is left");
}

fn publish(mesh: &mut Mesh, topic: &str, by: &str, payload: Value) {
    let draft = json!({"type": topic, "source": by, "payload": payload});
    let draft = Draft::read(&draft).expect("an event");
    mesh.publish(draft, Durability::Logged)
        .expect("it is published");
}

/// CALC-PAT-2, CALC-PAT-4: an agent at work gets tasks for it, results of its own tasks,
/// discoveries, requests and shared context, each once and with text of others in quotes.
#[test]
fn an_agent_at_work_gets_each_news_once() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let codex = at_work("codex", "s1");
    assert_eq!(news_text(&mut mesh, &codex), "");
    add(&mut mesh, "for-codex", "codex", "claude");
    add(&mut mesh, "for-gemini", "gemini", "codex");
    let done = Command::Complete {
        task: "for-gemini".to_owned(),
        result: Some("two \"in\" lexer.rs".to_owned()),
        anyway: false,
        token: None,
    };
    mesh.give(done, &voice("gemini")).unwrap();
    let found = Command::Share {
        id: "d".to_owned(),
        content: "serde 2 breaks".to_owned(),
    };
    mesh.give(found, &voice("gemini")).unwrap();
    publish(
        &mut mesh,
        "calc.request",
        "claude",
        json!({"to": "codex", "what": "review a.rs"}),
    );
    publish(
        &mut mesh,
        "calc.request",
        "claude",
        json!({"to": "gemini", "what": "not yours"}),
    );
    publish(
        &mut mesh,
        "calc.context_share",
        "gemini",
        json!({"summary": "UTF-16 now"}),
    );
    publish(&mut mesh, "calc.request", "codex", json!({"what": "own"}));
    let mut text = news_text(&mut mesh, &codex);
    text.push_str(&news_text(&mut mesh, &codex));
    for part in [
        "task for you from claude-code, `callosum mesh task claim for-codex`: \"work of for-codex\"",
        "gemini-cli completed your task for-gemini: \"two 'in' lexer.rs\"",
        "gemini-cli found out: \"serde 2 breaks\"",
        ": \"review a.rs\"",
        ": \"UTF-16 now\"",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    }
    assert!(!text.contains("not yours"), "{text}");
    assert!(!text.contains("own\""), "{text}");
    assert_eq!(news_text(&mut mesh, &codex), "");
}

/// CALC-PAT-4: each session of an agent gets what is for all of them, no matter which asks first,
/// and even if it came before another session of its agent began. A request to the agent by its
/// name goes to one of them.
#[test]
fn no_session_is_left_blind_by_another_of_its_agent() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let (first, second) = (at_work("codex", "s1"), at_work("codex", "s/../2"));
    mesh.heard_all(&first).unwrap();
    mesh.heard_all(&second).unwrap();
    let share = |mesh: &mut Mesh, content: &str| {
        let order = Command::Share {
            id: content.to_owned(),
            content: format!("found {content}"),
        };
        mesh.give(order, &voice("gemini")).unwrap();
    };
    share(&mut mesh, "one");
    add(&mut mesh, "for-codex", "codex", "claude");
    let ask = |to: &str, what: &str| json!({"to": to, "what": what});
    publish(&mut mesh, "calc.request", "claude", ask("codex", "for one"));
    publish(
        &mut mesh,
        "calc.request",
        "gemini",
        ask("codex@s1", "for s1"),
    );
    let heard = [news_text(&mut mesh, &first), news_text(&mut mesh, &second)];
    for text in &heard {
        assert!(text.contains("found one"), "{text}");
        assert!(text.contains("task claim for-codex"), "{text}");
    }
    assert!(heard[0].contains("for one") && heard[0].contains("for s1"));
    assert!(!heard[1].contains("for one") && !heard[1].contains("for s1"));
    assert_eq!(
        [news_text(&mut mesh, &first), news_text(&mut mesh, &second)],
        ["", ""]
    );
    // Another session begins, and its digest has what the first has not got yet.
    share(&mut mesh, "two");
    let third = at_work("codex", "s3");
    let digest = mesh
        .digest_for(&third, &DigestContext::default(), 400)
        .unwrap();
    assert!(digest.text.contains("found two"), "{}", digest.text);
    mesh.deliver(&digest, &third, "session-start").unwrap();
    assert!(news_text(&mut mesh, &first).contains("found two"));
    assert_eq!(news_text(&mut mesh, &third), "");
    let files = || place.disk.list_dir(&place.folder().join("news")).unwrap();
    assert_eq!(files().len(), 4);
    mesh.end_session(&third, "done").unwrap();
    assert_eq!(files().len(), 3);
    for number in 0..300 {
        let session = at_work("codex", &format!("n{number}"));
        mesh.heard_all(&session).unwrap();
    }
    assert_eq!(files().len(), 257);
}

/// CALC-PAT-4: items that did not fit come at the next calls, all of them, in their order and each
/// once. Items of a session's first digest are not repeated.
#[test]
fn what_has_no_room_comes_at_the_next_call() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let share = |mesh: &mut Mesh, number: usize| {
        let order = Command::Share {
            id: format!("d{number}"),
            content: format!("finding {number}: {}", "word ".repeat(30)),
        };
        mesh.give(order, &voice("gemini")).unwrap();
    };
    let codex = at_work("codex", "s1");
    share(&mut mesh, 0);
    let digest = mesh
        .digest_for(&codex, &DigestContext::default(), 400)
        .unwrap();
    mesh.deliver(&digest, &codex, "session-start").unwrap();
    for number in 1..=20 {
        share(&mut mesh, number);
    }
    let mut heard = Vec::new();
    loop {
        let text = news_text(&mut mesh, &codex);
        if text.is_empty() {
            break;
        }
        assert!(callosum_citation::tokens::estimate(&text) <= 300, "{text}");
        let lines = text.lines().filter_map(|line| {
            let (_, rest) = line.split_once("finding ")?;
            rest.split(':').next()?.parse::<usize>().ok()
        });
        heard.extend(lines);
    }
    assert_eq!(heard, (1..=20).collect::<Vec<_>>());
}

/// CALC-FUT-1: the holder of a file gets one notice if another agent edits it, or takes the lease.
#[test]
fn a_holder_gets_notices_of_what_others_do() {
    let place = Place::new();
    let mut mesh = place.mesh();
    let claude = at_work("claude", "s1");
    let gemini = at_work("gemini", "s2");
    let take = |anyway| Command::Lease {
        path: "/p/lib.rs".to_owned(),
        why: None,
        anyway,
    };
    mesh.give(take(false), &claude).unwrap();
    let held = mesh.held_against(|_| true, &gemini).unwrap();
    assert_eq!(held.len(), 1);
    for _ in 0..3 {
        mesh.tell_holders(&held, &gemini).unwrap();
    }
    let text = news_text(&mut mesh, &claude);
    let edited = "\"gemini-cli edited /p/lib.rs, on which you hold a lease\"";
    assert_eq!(text.matches(edited).count(), 1, "{text}");
    assert_eq!(news_text(&mut mesh, &claude), "");
    mesh.give(take(true), &gemini).unwrap();
    let text = news_text(&mut mesh, &claude);
    assert!(
        text.contains("\"gemini-cli took your lease on /p/lib.rs\""),
        "{text}"
    );
    // Agents get no notices of their own actions.
    mesh.give(take(true), &gemini).unwrap();
    assert_eq!(news_text(&mut mesh, &gemini), "");
}

/// CALC-ROUTE-1: a task with a category and no agent is for the agent of that category, no matter
/// how it is added.
#[test]
fn a_category_says_who_is_to_do_a_task() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for (id, to) in [("a", Value::Null), ("b", "gemini".into())] {
        let payload =
            json!({"id": id, "prompt": "sum up", "assigned_to": to, "category": "crm-math"});
        publish(&mut mesh, "calc.task_handoff", "claude", payload);
    }
    let meant = |mesh: &mut Mesh, id: &str| {
        let task = mesh.board().unwrap().task(id).unwrap();
        task.assigned_to.as_ref().map(ToString::to_string)
    };
    assert_eq!(meant(&mut mesh, "a").as_deref(), Some("codex"));
    assert_eq!(meant(&mut mesh, "b").as_deref(), Some("gemini-cli"));
}

/// CALC-ROUTE-1: an event with a category that there is not is refused, with those that there are.
#[test]
fn a_category_that_there_is_not_is_refused() {
    let place = Place::new();
    let mut mesh = place.mesh();
    for (category, shown) in [(json!("maths"), "\"maths\""), (json!(7), "7")] {
        let topic = "calc.task_handoff".parse().unwrap();
        let payload = json!({"id": "a", "prompt": "sum up", "category": category});
        let draft = Draft::new(topic, "claude".parse().unwrap());
        let draft = draft.with_payload(payload.as_object().unwrap().clone());
        let refusal = refused(mesh.publish(draft, Durability::Synced)).to_string();
        let begins = format!("there is no category {shown} (allowed: ios-build, architecture, ");
        assert!(refusal.starts_with(&begins), "{refusal}");
    }
    assert!(mesh.board().unwrap().tasks.is_empty());
}
