//! Order of decision, limits, outcomes, and changes of the rules.

use std::sync::atomic::{AtomicU32, Ordering};

use callosum_intent::delegation::{
    Candidate, DelegationMetadata, Engine, EngineOptions, ExecTarget, Needs, Offer, Policy, Scorer,
    ScorerInput, Veto, WeightedScorer, Why,
};

use crate::{call, confident, engine_with_offer, local, now, remote};

/// CCOS-DEL-2: static route, cache, scorers, evaluator, in this order.
#[test]
fn a_static_route_comes_before_the_cache_and_the_cache_before_the_scorers() {
    let (engine, symbol) = engine_with_offer("f");
    let asked = call(symbol, 1, 2);
    let why = || engine.decide(&asked, now()).why;
    assert_eq!([why(), why()], [Why::Metadata, Why::Hit]);
    engine.set_routes([("f", remote("codex"))]);
    let decision = engine.decide(&asked, now());
    assert_eq!(
        (decision.target, decision.why),
        (&remote("codex"), Why::Static)
    );
    assert!((decision.confidence - 1.0).abs() < 1e-9);
    engine.set_routes([]);
    assert_eq!([why(), why()], [Why::Metadata, Why::Hit]);
    engine.withdraw(&local("phi"));
    assert_eq!([why(), why()], [Why::Default, Why::Default]);
}

/// CCOS-DEL-2: the target moves only at the threshold or above it.
#[test]
fn a_score_below_the_threshold_does_not_move_the_target() {
    struct Fixed(f64);
    impl Scorer for Fixed {
        fn name(&self) -> &'static str {
            "fixed"
        }
        fn score(&self, _: &ScorerInput<'_>, _: &Candidate<'_>) -> Option<f64> {
            Some(self.0)
        }
    }
    let why = |score| {
        let scorer = WeightedScorer {
            scorer: Box::new(Fixed(score)),
            weight: 2.0,
        };
        let engine = Engine::with_scorers(EngineOptions::default(), vec![scorer]);
        let symbol = engine.symbol("f");
        engine.offer(symbol, Offer::new(remote("codex")));
        let why = engine.decide(&call(symbol, 1, 2), now()).why;
        assert_eq!(engine.len(), usize::from(why == Why::Metadata));
        why
    };
    assert_eq!(why(0.65), Why::Metadata);
    assert_eq!(why(0.649), Why::Default);
}

/// CCOS-DEL-2: a policy applies to routes and offers from the return of `set_policy` on.
#[test]
fn a_denied_target_is_chosen_by_no_step() {
    let (engine, symbol) = engine_with_offer("f");
    engine.offer(symbol, Offer::new(remote("codex")));
    engine.set_routes([("fixed", remote("codex"))]);
    let fixed = engine.symbol("fixed");
    let asked = [call(fixed, 1, 2), call(symbol, 1, 2)];
    let targets = || asked.map(|asked| engine.decide(&asked, now()).target.clone());
    assert_eq!(targets(), [remote("codex"), local("phi")]);
    engine.set_policy(Policy {
        denies_remote: true,
        ..Policy::default()
    });
    assert_eq!(targets(), [ExecTarget::LocalPure, local("phi")]);
    engine.set_policy(Policy {
        denied: [local("phi"), ExecTarget::LocalPure].into(),
        ..Policy::default()
    });
    assert_eq!(targets(), [remote("codex"), remote("codex")]);
    let explained = engine.explain(&asked[1], now());
    assert_eq!(explained.scores[1].veto, Some(Veto::Policy));
}

/// CCOS-DEL-2: data goes only to what is trusted enough, also if an entry for public data exists.
#[test]
fn secret_data_does_not_follow_the_decision_for_public_data() {
    let engine = Engine::default();
    let symbol = engine.symbol("f");
    engine.offer(symbol, Offer::new(remote("codex")).trust_tier(2));
    let asked = call(symbol, 1, 2);
    assert_eq!(*engine.decide(&asked, now()).target, remote("codex"));
    let secret = DelegationMetadata {
        needs: Needs {
            sensitivity: 3,
            ..Needs::default()
        },
        ..DelegationMetadata::default()
    };
    let decision = engine.decide(&asked.with_metadata(&secret), now());
    assert_eq!(
        (decision.target, decision.why),
        (&ExecTarget::LocalPure, Why::Default)
    );
}

/// CCOS-DEL-2: failures change the next decision, and successes bring a target back.
#[test]
fn failures_move_the_target_and_successes_bring_it_back() {
    let engine = Engine::default();
    let symbol = engine.symbol("f");
    engine.offer(symbol, Offer::new(local("first")));
    engine.offer(symbol, Offer::new(local("second")).latency_ms(300));
    let asked = call(symbol, 1, 2);
    let target = || engine.decide(&asked, now()).target.clone();
    assert_eq!(target(), local("first"));
    for _ in 0..4 {
        engine.record_outcome(symbol, &local("first"), false);
    }
    assert_eq!(target(), local("second"));
    for _ in 0..40 {
        engine.record_outcome(symbol, &local("first"), true);
    }
    // A success voids no entry.
    assert_eq!(target(), local("second"));
    engine.invalidate_symbol("f");
    assert_eq!(target(), local("first"));
}

/// CCOS-DEL-2: the same state gives the same decision in every order of registration.
#[test]
fn equal_scores_are_decided_by_cost_then_time_then_name() {
    let engine = Engine::default();
    let symbol = engine.symbol("f");
    for id in ["c", "a", "b"] {
        engine.offer(symbol, Offer::new(local(id)));
    }
    assert_eq!(
        *engine.decide(&call(symbol, 1, 2), now()).target,
        local("a")
    );
}

/// CCOS-DEL-2: a decision that was computed under old rules is made again under the new ones.
#[test]
fn rules_that_change_while_scorers_work_apply_to_that_decision() {
    struct Changing(AtomicU32);
    impl Scorer for Changing {
        fn name(&self) -> &'static str {
            "changing"
        }
        fn score(&self, ask: &ScorerInput<'_>, _: &Candidate<'_>) -> Option<f64> {
            // The engine of the test is not known here, so the scorer waits for a change by another thread.
            if ask.symbol == "f" && self.0.fetch_add(1, Ordering::SeqCst) == 0 {
                while self.0.load(Ordering::SeqCst) < 100 {
                    std::thread::yield_now();
                }
            }
            Some(1.0)
        }
    }
    let scorer = std::sync::Arc::new(Changing(AtomicU32::new(0)));
    struct Shared(std::sync::Arc<Changing>);
    impl Scorer for Shared {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn score(&self, ask: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64> {
            self.0.score(ask, candidate)
        }
    }
    let weighted = WeightedScorer {
        scorer: Box::new(Shared(scorer.clone())),
        weight: 1.0,
    };
    let engine = Engine::with_scorers(EngineOptions::default(), vec![weighted]);
    let symbol = engine.symbol("f");
    engine.offer(symbol, Offer::new(remote("codex")));
    std::thread::scope(|scope| {
        let decided = scope.spawn(|| engine.decide(&call(symbol, 1, 2), now()).target.clone());
        while scorer.0.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        engine.set_policy(Policy {
            denies_remote: true,
            ..Policy::default()
        });
        scorer.0.store(100, Ordering::SeqCst);
        assert_eq!(decided.join().unwrap(), ExecTarget::LocalPure);
    });
}

/// CCOS-DEL-2: an explanation names the reason of the default.
#[test]
fn an_explanation_names_why_the_target_did_not_move() {
    let engine = Engine::default();
    let symbol = engine.symbol("f");
    let asked = call(symbol, 1, 2);
    let reasoning = |metadata: &DelegationMetadata| {
        let explained = engine.explain(&asked.with_metadata(metadata), now());
        assert_eq!(explained.why, Why::Default);
        explained.reasoning
    };
    let plain = DelegationMetadata::default();
    assert_eq!(
        reasoning(&plain),
        "no static route, no valid entry, and no offer for the symbol"
    );
    engine.offer(
        symbol,
        Offer::new(remote("codex"))
            .cost_micros(900_000)
            .trust_tier(0),
    );
    let text = reasoning(&plain);
    assert!(text.starts_with("the best score is 0."), "{text}");
    assert!(text.ends_with("for remote:codex, below 0.65"), "{text}");
    assert_eq!(
        reasoning(&confident(0.1, Needs::default())),
        "the confidence of the metadata is below 0.50"
    );
    let needs = Needs {
        sensitivity: 1,
        ..Needs::default()
    };
    assert_eq!(
        reasoning(&confident(0.9, needs)),
        "every offer is excluded; remote:codex: its trust tier is lower than the sensitivity of the data"
    );
}
