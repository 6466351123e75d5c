//! The twelve defects of the upstream engine, by number. Each test fails with an engine that has the defect.
//!
//! Defect 1 (deadlock) is in `threads`, and defect 7 (cost of a hit) in `tests/allocation.rs` and `benches/decide.rs`.

use callosum_intent::delegation::{
    CallContext, DelegationMetadata, Engine, ExecTarget, Needs, Offer, Policy, PolicyEpoch, Why,
    compiled::{CompiledPlans, MemoryStore, PlanRefusal, PlanSigningKey, PolicyHash},
};

use crate::{call, confident, engine_with_offer, local, now, remote};

/// CCOS-DEL-3, defect 2: a fingerprint that equals the context does not cancel, and a swap is another key.
#[test]
fn equal_and_swapped_hashes_have_entries_of_their_own() {
    let (engine, symbol) = engine_with_offer("f");
    let calls = [(7, 7), (9, 9), (7, 9), (9, 7), (0, 0)];
    for (fingerprint, context) in calls {
        let decision = engine.decide(&call(symbol, fingerprint, context), now());
        assert_eq!(decision.why, Why::Metadata, "{fingerprint} {context}");
    }
    let tasks = engine.plans_of_symbol("f");
    assert_eq!(tasks.len(), calls.len());
    assert!(tasks.iter().all(|(task, _)| task.get() != 0));
}

/// CCOS-DEL-1, defect 3: one prefix is removed once.
#[test]
fn an_id_that_looks_like_a_prefix_survives_its_text() {
    for id in [
        "local-phi",
        "local-local-phi",
        "pure",
        "local:phi",
        "remote:x",
        "",
        "l4:a:b",
    ] {
        for target in [local(id), remote(id)] {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }
    assert_ne!(local("pure").to_string(), ExecTarget::LocalPure.to_string());
}

/// CCOS-DEL-2, defect 4: metadata moves the target, and a low confidence is not stored as a decision for the evaluator.
#[test]
fn metadata_moves_the_target_and_low_confidence_is_not_stored() {
    let engine = Engine::default();
    let symbol = engine.symbol("nlp/summarize");
    let offer = |target, latency| {
        Offer::new(target)
            .cost_micros(20_000)
            .latency_ms(latency)
            .trust_tier(1)
    };
    engine.offer(symbol, offer(remote("slow"), 9_000));
    engine.offer(symbol, offer(remote("fast"), 8_000));
    let without = call(symbol, 1, 1);
    assert_eq!(engine.decide(&without, now()).why, Why::Default);

    let needs = |target: Option<ExecTarget>| Needs {
        target,
        budget_micros: Some(1_000_000),
        deadline_ms: Some(60_000),
        sensitivity: 1,
    };
    let doubtful = confident(0.2, needs(Some(remote("slow"))));
    let decision = engine.decide(&without.with_metadata(&doubtful), now());
    assert_eq!(
        (decision.target, decision.why),
        (&ExecTarget::LocalPure, Why::Default)
    );
    assert!(engine.is_empty());

    // The same call, with limits that the offers meet by far.
    let certain = confident(0.95, needs(None));
    let decision = engine.decide(&without.with_metadata(&certain), now());
    assert_eq!(
        (decision.target, decision.why),
        (&remote("fast"), Why::Metadata)
    );
    let proposing = confident(0.95, needs(Some(remote("slow"))));
    let decision = engine.decide(&without.with_metadata(&proposing), now());
    assert_eq!(
        (decision.target, decision.why),
        (&remote("slow"), Why::Metadata)
    );
    assert_eq!(engine.len(), 2);
    // Another call of the first kind is not answered by an entry of the second.
    assert_eq!(engine.decide(&without, now()).why, Why::Default);
}

/// CCOS-DEL-2, defect 4: metadata names no target that is not registered.
#[test]
fn a_proposed_target_that_is_not_registered_is_not_chosen() {
    let (engine, symbol) = engine_with_offer("f");
    let needs = Needs {
        target: Some(remote("attacker")),
        ..Needs::default()
    };
    let metadata = confident(0.6, needs);
    let decision = engine.decide(&call(symbol, 1, 1).with_metadata(&metadata), now());
    assert_eq!(*decision.target, local("phi"));
}

/// CCOS-DEL-2, defect 5: the default is not stored.
#[test]
fn a_symbol_that_was_asked_before_its_agent_came_gets_the_agent() {
    let engine = Engine::default();
    let symbol = engine.symbol("agent.sentiment");
    let asked = call(symbol, 1, 2);
    assert_eq!(engine.decide(&asked, now()).why, Why::Default);
    engine.offer(symbol, Offer::new(local("sentiment")));
    assert_eq!(*engine.decide(&asked, now()).target, local("sentiment"));
    let other = engine.symbol("agent.other");
    assert_eq!(engine.decide(&call(other, 1, 2), now()).why, Why::Default);
    engine.set_routes([("agent.other", remote("other"))]);
    assert_eq!(
        *engine.decide(&call(other, 1, 2), now()).target,
        remote("other")
    );
}

/// CCOS-DEL-3, defect 6: each hit is checked against the current policy.
#[test]
fn an_entry_of_an_older_policy_is_no_hit() {
    let (engine, symbol) = engine_with_offer("f");
    let asked = call(symbol, 1, 2);
    engine.decide(&asked, now());
    assert_eq!(engine.decide(&asked, now()).why, Why::Hit);
    engine.set_policy(Policy {
        epoch: PolicyEpoch(5),
        denied: [local("phi")].into(),
        ..Policy::default()
    });
    let decision = engine.decide(&asked, now());
    assert_eq!(
        (decision.target, decision.why),
        (&ExecTarget::LocalPure, Why::Default)
    );
    assert_eq!(decision.policy_epoch, PolicyEpoch(5));
    engine.set_policy(Policy {
        epoch: PolicyEpoch(6),
        ..Policy::default()
    });
    let decision = engine.decide(&asked, now());
    assert_eq!(
        (decision.why, decision.policy_epoch),
        (Why::Metadata, PolicyEpoch(6))
    );
    let decision = engine.decide(&asked, now());
    assert_eq!(
        (decision.why, decision.policy_epoch),
        (Why::Hit, PolicyEpoch(6))
    );
}

/// CCOS-DEL-3, defect 8: a name is opaque, also with the separator that upstream splits at.
#[test]
fn names_with_colons_are_found_and_invalidated() {
    let engine = Engine::default();
    let names = ["team::reviewer", "team", "team::reviewer::strict", "::", ""];
    for name in names {
        let symbol = engine.symbol(name);
        engine.offer(symbol, Offer::new(local("phi")));
    }
    for name in names {
        engine.decide(&call(engine.symbol(name), 1, 2), now());
    }
    let plans = engine.plans_of_symbol("team::reviewer");
    let [(task, plan)] = plans.as_slice() else {
        panic!("{plans:?}");
    };
    assert_eq!(plan.target, local("phi"));
    let of_task: Vec<&str> = engine.plans_of_task(*task).iter().map(|it| it.0).collect();
    assert_eq!(
        of_task,
        ["", "::", "team", "team::reviewer", "team::reviewer::strict"]
    );
    assert!(engine.invalidate("team::reviewer", *task));
    assert!(!engine.invalidate("team::reviewer", *task));
    assert_eq!(engine.plans_of_symbol("team::reviewer"), []);
    assert_eq!(engine.len(), names.len() - 1);
    assert_eq!(engine.invalidate_symbol("::"), 1);
    assert_eq!(engine.invalidate_symbol("unknown::name"), 0);
    assert_eq!(engine.plans_of_symbol("team").len(), 1);
}

/// CCOS-DEL-1, defect 9: a compiled plan is an entry like any other, and its signature is verified before use.
#[test]
fn a_compiled_plan_is_cached_and_verified_before_use() {
    let store = MemoryStore::default();
    let key = PlanSigningKey::from_seed(&[7; 32]);
    let plans = CompiledPlans::new(&store, vec![key.verifying_key()]);
    let policy = PolicyHash::of_policy(b"permit");
    let target = plans.store("(+ 1 2)", policy, b"ir", &key).unwrap();

    let engine = Engine::default();
    let symbol = engine.symbol("math/sum");
    engine.offer(symbol, Offer::new(target.clone()));
    let asked = call(symbol, 1, 2);
    assert_eq!(*engine.decide(&asked, now()).target, target);
    let decision = engine.decide(&asked, now());
    assert_eq!((decision.target, decision.why), (&target, Why::Hit));
    let plan = plans.open(decision.target, policy).unwrap();
    assert_eq!((plan.source(), plan.code()), ("(+ 1 2)", &b"ir"[..]));

    // A hit does not make the plan any more valid.
    let other = CompiledPlans::new(&store, Vec::new());
    assert_eq!(
        other.open(decision.target, policy),
        Err(PlanRefusal::UnknownKey(key.verifying_key().id()))
    );
}

/// CCOS-DEL-2, defect 10: static, hit, metadata and default each leave a record with the policy's epoch.
#[test]
fn every_decision_leaves_a_record() {
    let (engine, symbol) = engine_with_offer("scored");
    engine.set_policy(Policy {
        epoch: PolicyEpoch(3),
        ..Policy::default()
    });
    engine.set_routes([("fixed", remote("codex"))]);
    let (fixed, unknown) = (engine.symbol("fixed"), engine.symbol("unknown"));
    for symbol in [symbol, symbol, fixed, unknown] {
        engine.decide(&call(symbol, 1, 2), now());
    }
    let batch = engine.take_records();
    let records: Vec<_> = batch
        .iter()
        .map(|record| (record.symbol.as_str(), record.why, &record.target))
        .collect();
    assert_eq!(
        records,
        [
            ("scored", Why::Metadata, &local("phi")),
            ("scored", Why::Hit, &local("phi")),
            ("fixed", Why::Static, &remote("codex")),
            ("unknown", Why::Default, &ExecTarget::LocalPure),
        ]
    );
    let task = call(symbol, 1, 2).task_hash();
    for record in batch.iter() {
        assert_eq!(record.policy_epoch, PolicyEpoch(3));
        assert_eq!((record.task_hash, record.at), (task, now()));
    }
    batch.written();
}

/// CCOS-DEL-2, defect 11: what is called pure is pure. `explain` is, and agrees with `decide`, which is not.
#[test]
fn an_explanation_changes_nothing_and_agrees_with_the_decision() {
    let (engine, symbol) = engine_with_offer("scored");
    let asked = call(symbol, 1, 2);
    let explained = engine.explain(&asked, now());
    assert_eq!(explained, engine.explain(&asked, now()));
    assert!(engine.is_empty());
    assert!(!engine.must_flush_before_effect());
    assert_eq!(
        (&explained.target, explained.why),
        (&local("phi"), Why::Metadata)
    );
    assert_eq!(explained.scores.len(), 1);

    let decision = engine.decide(&asked, now());
    assert_eq!(
        (decision.target, decision.why),
        (&explained.target, explained.why)
    );
    assert!((decision.confidence - explained.confidence).abs() < 1e-9);
    assert_eq!(engine.explain(&asked, now()).why, Why::Hit);
    assert_eq!(engine.pending_records(), 1);
}

/// CCOS-DEL-1, defect 12: ids come from configuration at run time, and a call has a budget and a deadline.
#[test]
fn ids_come_from_configuration_and_calls_have_a_budget_and_a_deadline() {
    let json = r#"[{"target": "remote:team/glm-4.6@eu", "cost-micros": 900, "latency-ms": 3000, "trust-tier": 2},
        {"target": "local:phi-mini", "latency-ms": 90000, "trust-tier": 3}]"#;
    let offers: Vec<Offer> = serde_json::from_str(json).unwrap();
    let engine = Engine::default();
    let symbol = engine.symbol("nlp/translate");
    for offer in offers {
        engine.offer(symbol, offer);
    }
    let chosen = |needs: &str| {
        let json = format!(r#"{{"confidence": 0.9, "needs": {needs}}}"#);
        let metadata: DelegationMetadata = serde_json::from_str(&json).unwrap();
        let asked = CallContext::new(symbol, 1, 2).with_metadata(&metadata);
        engine.decide(&asked, now()).target.to_string()
    };
    let both = r#"{"budget-micros": 9000, "deadline-ms": 100000}"#;
    assert_eq!(chosen(both), "remote:team/glm-4.6@eu");
    assert_eq!(
        chosen(r#"{"budget-micros": 899, "deadline-ms": 300000}"#),
        "local:phi-mini"
    );
    assert_eq!(
        chosen(r#"{"budget-micros": 9000, "deadline-ms": 300000, "sensitivity": 3}"#),
        "local:phi-mini"
    );
    assert_eq!(
        chosen(r#"{"budget-micros": 899, "deadline-ms": 2000}"#),
        "local-pure"
    );
}
