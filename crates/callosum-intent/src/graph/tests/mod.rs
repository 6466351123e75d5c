//! Tests of the graph: the table of transitions, cycles, conflicts and queries. [`properties`] has those over any sequence of
//! changes, [`formulation`] those of sentences.

use jiff::Timestamp;

use super::*;

mod formulation;
mod properties;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn id(name: &str) -> IntentId {
    name.parse().unwrap()
}

fn created(name: &str, new: NewIntent) -> Change {
    Change::IntentCreated(Box::new(Created {
        intent: id(name),
        new,
    }))
}

fn related(from: &str, relation: Relation, to: &str) -> Change {
    let edge = Edge {
        from: id(from),
        relation,
        to: id(to),
        weight: Weight::default(),
    };
    Change::IntentRelationshipCreated(RelationRecord {
        edge,
        provenance: Provenance::default(),
    })
}

fn moved(name: &str, from: Status, to: Status) -> Change {
    Change::of_status(
        id(name),
        from,
        to,
        "a reason".to_owned(),
        Provenance::default(),
    )
}

fn linked(name: &str, link: Link, is_new: bool) -> Change {
    let record = LinkRecord {
        intent: id(name),
        link,
        provenance: Provenance::default(),
    };
    if is_new {
        Change::IntentLinked(record)
    } else {
        Change::IntentUnlinked(record)
    }
}

/// A graph with one pending intent for each name.
fn graph(names: &[&str]) -> Graph {
    let mut graph = Graph::default();
    for (number, name) in names.iter().enumerate() {
        let new = NewIntent::of_goal(format!("goal of {name}"));
        let second = i64::try_from(number).unwrap();
        graph.apply(&created(name, new), at(second)).unwrap();
    }
    graph
}

fn ids(intents: &[&Intent]) -> Vec<String> {
    let ids = intents.iter();
    ids.map(|intent| intent.id.to_string()).collect()
}

/// CCOS-ARB-1: the table is the whole rule. Every pair that is not in it is refused, and the intent stays as it was.
#[test]
fn a_transition_outside_of_the_table_is_refused() {
    let mut legal = 0;
    for from in Status::ALL {
        for to in Status::ALL {
            let mut graph = graph(&["a"]);
            graph.intents.get_mut(&id("a")).unwrap().intent.status = from;
            let before = graph.clone();
            let done = graph.apply(&moved("a", from, to), at(9));
            if from.next().contains(&to) {
                legal += 1;
                done.unwrap();
                assert_eq!(graph.get(&id("a")).unwrap().status, to);
            } else {
                let error = done.unwrap_err();
                assert!(
                    matches!(error, ChangeError::Illegal { .. }),
                    "{from} {to}: {error}"
                );
                assert_eq!(graph, before, "{from} {to}");
            }
        }
    }
    // A state leads to others, never to itself, and an executing intent has to end before it is archived.
    assert_eq!(legal, 27);
    assert!(Status::Executing.check(Status::Archived).is_err());
    assert!(Status::Completed.check(Status::Failed).is_err());
    let error = Status::Archived.check(Status::Completed).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an intent that is archived cannot become completed (allowed: active)"
    );
}

/// CCOS-ARB-1: archiving and reactivation are events of their own.
#[test]
fn archiving_and_reactivation_are_kinds_of_their_own() {
    let kind = |from, to| moved("a", from, to).kind();
    assert_eq!(kind(Status::Active, Status::Archived), "intent_archived");
    for from in [Status::Completed, Status::Archived, Status::Failed] {
        assert_eq!(kind(from, Status::Active), "intent_reactivated");
    }
    let suspended = kind(Status::Suspended, Status::Active);
    assert_eq!(suspended, "intent_status_changed");
}

/// A change that was decided over an earlier state does not count, even if the table allows it.
#[test]
fn a_change_from_a_state_that_has_passed_is_refused() {
    let mut graph = graph(&["a"]);
    graph
        .apply(&moved("a", Status::Pending, Status::Active), at(1))
        .unwrap();
    let stale = graph.apply(&moved("a", Status::Pending, Status::Executing), at(2));
    let error = stale.unwrap_err().to_string();
    assert_eq!(
        error,
        "the intent `a` is active, not pending: another process changed it"
    );
}

/// CCOS-ARB-1: a cycle is refused by name, whichever of the two relations it goes through.
#[test]
fn a_cycle_is_refused_and_names_the_intents_on_it() {
    let mut graph = graph(&["a", "b", "c"]);
    graph
        .apply(&related("a", Relation::DependsOn, "b"), at(3))
        .unwrap();
    graph
        .apply(&related("b", Relation::IsSubgoalOf, "c"), at(4))
        .unwrap();
    for relation in [Relation::DependsOn, Relation::IsSubgoalOf] {
        let before = graph.clone();
        let error = graph
            .apply(&related("c", relation, "a"), at(5))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "this would make a cycle: c -> a -> b -> c"
        );
        assert_eq!(graph, before);
    }
    // Relations that order nothing may go both ways.
    graph
        .apply(&related("c", Relation::Enables, "a"), at(6))
        .unwrap();
    graph
        .apply(&related("a", Relation::Enables, "c"), at(7))
        .unwrap();
}

#[test]
fn a_relation_needs_two_intents_that_exist_and_are_not_related_so_yet() {
    let mut graph = graph(&["a", "b", "c"]);
    let refused = |graph: &mut Graph, change: &Change| {
        let before = graph.clone();
        let error = graph.apply(change, at(9)).unwrap_err();
        assert_eq!(*graph, before);
        error.to_string()
    };
    let unknown = related("a", Relation::DependsOn, "x");
    assert_eq!(refused(&mut graph, &unknown), "no intent `x`");
    let own = related("a", Relation::RelatedTo, "a");
    assert!(refused(&mut graph, &own).contains("itself"));
    graph
        .apply(&related("b", Relation::ConflictsWith, "a"), at(3))
        .unwrap();
    // It has no direction, so the other way around is the same one.
    let again = related("a", Relation::ConflictsWith, "b");
    assert!(refused(&mut graph, &again).contains("exists already"));
    graph
        .apply(&related("a", Relation::IsSubgoalOf, "b"), at(4))
        .unwrap();
    let second = related("a", Relation::IsSubgoalOf, "c");
    let message = refused(&mut graph, &second);
    assert_eq!(message, "the intent `a` is a part of `b` already");
    let twin = created("a", NewIntent::of_goal("another"));
    let message = refused(&mut graph, &twin);
    assert_eq!(message, "the intent `a` exists already");
}

/// A kill between two records cannot leave an intent without its relations: they are in the record that creates it.
#[test]
fn an_intent_is_created_with_its_parent_and_relations_or_not_at_all() {
    let mut graph = graph(&["a", "b"]);
    let with = |relations: Vec<NewRelation>| NewIntent {
        parent: Some(id("a")),
        relations,
        ..NewIntent::of_goal("a part")
    };
    let before = graph.clone();
    let unknown = with(vec![NewRelation::new(Relation::DependsOn, id("x"))]);
    let twice = with(vec![
        NewRelation::new(Relation::DependsOn, id("b")),
        NewRelation::new(Relation::DependsOn, id("b")),
    ]);
    let itself = with(vec![NewRelation::new(Relation::DependsOn, id("c"))]);
    let parents = with(vec![NewRelation::new(Relation::IsSubgoalOf, id("b"))]);
    for new in [unknown, twice, itself, parents] {
        graph.apply(&created("c", new), at(3)).unwrap_err();
        assert_eq!(graph, before);
    }
    let new = with(vec![NewRelation::new(Relation::DependsOn, id("b"))]);
    graph.apply(&created("c", new), at(3)).unwrap();
    assert_eq!(ids(&graph.children(&id("a"))), ["c"]);
    assert_eq!(ids(&graph.waits_for(&id("c"))), ["b"]);
    assert_eq!(graph.edges_of(&id("c")).len(), 2);
}

#[test]
fn the_weight_of_a_relation_that_exists_may_change() {
    let mut graph = graph(&["a", "b"]);
    let modified = |percent: u8| {
        Change::IntentRelationshipModified(RelationRecord {
            edge: Edge {
                from: id("b"),
                relation: Relation::RelatedTo,
                to: id("a"),
                weight: percent.try_into().unwrap(),
            },
            provenance: Provenance::default(),
        })
    };
    graph.apply(&modified(50), at(2)).unwrap_err();
    graph
        .apply(&related("a", Relation::RelatedTo, "b"), at(3))
        .unwrap();
    graph.apply(&modified(50), at(4)).unwrap();
    assert_eq!(graph.edges()[0].weight.percent(), 50);
    for percent in [0, 101] {
        assert_eq!(Weight::try_from(percent), Err(InvalidWeight(percent)));
    }
}

#[test]
fn an_intent_out_of_bounds_is_refused() {
    let long = |count: usize| "x".repeat(count);
    let cases = [
        NewIntent::of_goal(" \n"),
        NewIntent::of_goal(long(LONGEST_GOAL + 1)),
        NewIntent {
            status: Status::Completed,
            ..NewIntent::of_goal("x")
        },
        NewIntent {
            original_request: Some(long(LONGEST_REQUEST + 1)),
            ..NewIntent::of_goal("x")
        },
        NewIntent {
            constraints: Terms::from([(String::new(), Vec::new())]),
            ..NewIntent::of_goal("x")
        },
        NewIntent {
            constraints: Terms::from([("paths".to_owned(), vec![String::new(); MOST_TERMS + 1])]),
            ..NewIntent::of_goal("x")
        },
    ];
    let mut graph = Graph::default();
    for new in cases {
        let error = graph.apply(&created("a", new), at(0)).unwrap_err();
        assert!(matches!(error, ChangeError::Invalid(_)), "{error}");
    }
    assert!(graph.is_empty());
    assert!(serde_json::from_str::<NewIntent>(r#"{"goal": "x", "priority": 11}"#).is_err());
}

#[test]
fn a_tree_is_read_to_a_depth_and_counts_the_rest() {
    let mut graph = graph(&["root", "b", "a", "leaf"]);
    for (child, parent) in [("b", "root"), ("a", "root"), ("leaf", "b")] {
        graph
            .apply(&related(child, Relation::IsSubgoalOf, parent), at(9))
            .unwrap();
    }
    let rows = |depth| {
        let rows = graph.subtree(&id("root"), depth);
        rows.iter()
            .map(|row| format!("{}{}+{}", row.depth, row.intent.id, row.hidden))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(9), ["0root+0", "1b+0", "2leaf+0", "1a+0"]);
    assert_eq!(rows(1), ["0root+0", "1b+1", "1a+0"]);
    assert_eq!(rows(0), ["0root+2"]);
    assert_eq!(ids(&graph.ancestors(&id("leaf"))), ["b", "root"]);
    assert_eq!(ids(&graph.roots()), ["root"]);
}

#[test]
fn an_intent_is_found_by_a_beginning_that_is_only_its_own() {
    let graph = graph(&["int-abc1", "int-abd2", "other"]);
    let found = |text: &str| {
        let found = graph.find(text);
        found.map(|intent| intent.id.to_string())
    };
    assert_eq!(found("int-abc").as_deref(), Ok("int-abc1"));
    assert_eq!(found("abd").as_deref(), Ok("int-abd2"));
    assert_eq!(found("other").as_deref(), Ok("other"));
    let several = found("ab").unwrap_err();
    assert_eq!(several.to_string(), "2 intents begin with `ab`");
    for nothing in ["", "x", "INT-ABC1"] {
        assert!(
            matches!(found(nothing), Err(FindError::None(_))),
            "{nothing}"
        );
    }
}

#[test]
fn the_current_intent_is_the_active_one_that_changed_last() {
    let mut graph = graph(&["a", "b", "c"]);
    assert_eq!(graph.current(), None);
    for name in ["b", "a"] {
        let change = moved(name, Status::Pending, Status::Active);
        graph.apply(&change, at(5)).unwrap();
    }
    assert_eq!(graph.current().unwrap().id, id("a"));
    graph
        .apply(&moved("b", Status::Active, Status::Executing), at(5))
        .unwrap();
    assert_eq!(ids(&graph.active()), ["b", "a"]);
}

/// CCOS-SAFE-1: the reason and the run of each change of state stay with the intent.
#[test]
fn the_history_of_an_intent_names_the_run_behind_each_outcome() {
    let mut graph = graph(&["a"]);
    let change = Change::of_status(
        id("a"),
        Status::Pending,
        Status::Executing,
        "a plan runs".to_owned(),
        Provenance {
            run: Some("run-1".to_owned()),
            ..Provenance::default()
        },
    );
    graph.apply(&change, at(7)).unwrap();
    let history = graph.history(&id("a"));
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].run.as_deref(), Some("run-1"));
    assert_eq!(history[0].reason, "a plan runs");
    assert_eq!(graph.get(&id("a")).unwrap().updated, at(7));
}

fn with_paths(goal: &str, paths: &[&str]) -> NewIntent {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    NewIntent {
        constraints: Terms::from([("paths".to_owned(), paths)]),
        ..NewIntent::of_goal(goal)
    }
}

fn kinds(graph: &Graph) -> Vec<String> {
    let conflicts = graph.conflicts();
    let kinds = conflicts.iter();
    kinds
        .map(|conflict| {
            format!(
                "{} {} {}",
                conflict.one,
                conflict.kind.as_str(),
                conflict.other
            )
        })
        .collect()
}

/// CCOS-ARB-1: conflicts are found by facts, and only between intents that someone pursues.
#[test]
fn conflicts_come_from_relations_goals_and_paths_of_intents_at_work() {
    let mut graph = Graph::default();
    let intents = [
        ("a", with_paths("Rewrite the parser", &["src/parse"])),
        (
            "b",
            with_paths("rewrite  the parser.", &["./src//parse/lexer.rs"]),
        ),
        ("c", with_paths("Speed up tests", &["src/parser", "tests"])),
    ];
    for (name, new) in intents {
        graph.apply(&created(name, new), at(0)).unwrap();
    }
    graph
        .apply(&related("c", Relation::ConflictsWith, "a"), at(1))
        .unwrap();
    assert_eq!(kinds(&graph), Vec::<String>::new());
    for name in ["a", "b", "c"] {
        let change = moved(name, Status::Pending, Status::Active);
        graph.apply(&change, at(2)).unwrap();
    }
    assert_eq!(kinds(&graph), ["a same_goal b", "a conflicts_with c"]);
    for name in ["a", "b", "c"] {
        let change = moved(name, Status::Active, Status::Executing);
        graph.apply(&change, at(3)).unwrap();
    }
    assert_eq!(
        kinds(&graph),
        ["a same_goal b", "a same_paths b", "a conflicts_with c"]
    );
    assert_eq!(graph.conflicts_of(&id("c")).len(), 1);
    let shared = &graph.conflicts_of(&id("b"))[1].kind;
    assert_eq!(
        shared.to_string(),
        "both are executing on src/parse/lexer.rs"
    );
}

#[test]
fn a_part_is_no_conflict_for_the_whole() {
    let mut graph = Graph::default();
    let whole = with_paths("Rewrite the parser", &["src"]);
    let part = NewIntent {
        parent: Some(id("a")),
        ..with_paths("Rewrite the lexer", &["src"])
    };
    graph.apply(&created("a", whole), at(0)).unwrap();
    graph.apply(&created("b", part), at(0)).unwrap();
    for name in ["a", "b"] {
        let change = moved(name, Status::Pending, Status::Executing);
        graph.apply(&change, at(1)).unwrap();
    }
    assert_eq!(kinds(&graph), Vec::<String>::new());
}

/// CCOS-ARB-1: an intent has each link once, from either end, until it is removed. A link out of bounds is refused.
#[test]
fn a_link_is_there_once_until_it_is_removed() {
    let mut graph = graph(&["a", "b"]);
    let task = Link::task("schema");
    for name in ["b", "a"] {
        graph
            .apply(&linked(name, task.clone(), true), at(9))
            .unwrap();
    }
    graph
        .apply(&linked("a", Link::bead("bd-1"), true), at(9))
        .unwrap();
    let of_a: Vec<String> = graph.links(&id("a")).map(ToString::to_string).collect();
    assert_eq!(of_a, ["task `schema`", "bead `bd-1`"]);
    assert_eq!(ids(&graph.intents_of(&task)), ["a", "b"]);
    assert_eq!(graph.get(&id("a")).unwrap().updated, at(9));
    let refused = |change: &Change| graph.clone().apply(change, at(10)).unwrap_err().to_string();
    let again = refused(&linked("a", task.clone(), true));
    assert_eq!(again, "the intent `a` has the task `schema` already");
    // A bead of the same id is another link.
    let other = refused(&linked("a", Link::bead("schema"), false));
    assert_eq!(other, "the intent `a` has no link to the bead `schema`");
    for (invalid, why) in [
        (String::new(), "needs the id of a task"),
        ("a\nb".to_owned(), "needs the id of a task"),
        ("x".repeat(LONGEST_LINK + 1), "(allowed: 200)"),
    ] {
        let refused = refused(&linked("a", Link::task(invalid), true));
        assert!(refused.contains(why), "{refused}");
    }
    graph
        .apply(&linked("a", task.clone(), false), at(11))
        .unwrap();
    assert_eq!(ids(&graph.intents_of(&task)), ["b"]);
    for number in 0..MOST_TERMS {
        let change = linked("a", Link::task(number.to_string()), true);
        let is_full = graph.apply(&change, at(12)).is_err();
        assert_eq!(is_full, number + 1 == MOST_TERMS);
    }
}

/// Changes are records of a journal: each is read back as it was written.
#[test]
fn a_change_is_the_same_after_a_way_through_json() {
    let new = NewIntent {
        parent: Some(id("p")),
        relations: vec![NewRelation::new(Relation::Blocks, id("q"))],
        success_criteria: vec!["tests pass".to_owned()],
        ..with_paths("A \u{202e} goal\nin two lines", &["src"])
    };
    let changes = [
        created("a", new),
        related("a", Relation::DependsOn, "b"),
        moved("a", Status::Pending, Status::Active),
        moved("a", Status::Active, Status::Archived),
        moved("a", Status::Archived, Status::Active),
        linked("a", Link::task("schema"), true),
        linked("a", Link::bead("bd-1"), false),
    ];
    for change in changes {
        let json = serde_json::to_value(&change).unwrap();
        assert_eq!(json["kind"], change.kind());
        assert_eq!(serde_json::from_value::<Change>(json).unwrap(), change);
    }
}

#[test]
fn an_id_is_made_of_random_text_and_is_valid() {
    let made = IntentId::from_random("9d3f1c2e-8a4b-4c6d-9e0f-112233445566");
    assert_eq!(made.as_str(), "int-112233445566");
    assert_eq!(made.as_str().parse(), Ok(made.clone()));
    for invalid in ["", "A", "a b", "a/b", "\u{e9}", &"x".repeat(65)] {
        assert!(invalid.parse::<IntentId>().is_err(), "{invalid}");
    }
}
