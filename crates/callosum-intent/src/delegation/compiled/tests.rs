//! Refusals of compiled plans, each by its cause, and plans that are not refused.

use std::collections::BTreeSet;

use super::*;
use crate::delegation::{CallContext, Engine, stable_hash};

const SOURCE: &str = "(defplan survey (root) (call :search.find {:query root}))";

fn key(seed: u8) -> PlanSigningKey {
    PlanSigningKey::from_seed(&[seed; 32])
}

fn policy() -> PolicyHash {
    PolicyHash::of_policy(b"permit nothing")
}

fn plans(store: &MemoryStore) -> CompiledPlans<&MemoryStore> {
    CompiledPlans::new(store, vec![key(1).verifying_key()])
}

fn pointer(target: &ExecTarget) -> &str {
    let ExecTarget::L4CacheHit {
        storage_pointer, ..
    } = target
    else {
        panic!("{target} is no compiled plan");
    };
    storage_pointer
}

/// CCOS-DEL-1: a plan that was stored is opened, with its content.
#[test]
fn a_stored_plan_is_opened_with_its_source_and_code() {
    let store = MemoryStore::default();
    let plans = plans(&store);
    let target = plans.store(SOURCE, policy(), b"code", &key(1)).unwrap();
    let plan = plans.open(&target, policy()).unwrap();
    assert_eq!((plan.source(), plan.code()), (SOURCE, &b"code"[..]));
    assert_eq!(plan.content(), ContentHash::new(SOURCE, policy()));
    assert_eq!(plan.key(), key(1).verifying_key().id());
    // The target survives its text form.
    let read: ExecTarget = target.to_string().parse().unwrap();
    assert_eq!(plans.open(&read, policy()), Ok(plan));
}

/// CCOS-DEL-1, defect 9: a change of any byte of the stored plan is refused.
#[test]
fn a_plan_with_a_changed_byte_is_refused() {
    let store = MemoryStore::default();
    let plans = plans(&store);
    let target = plans.store(SOURCE, policy(), b"code", &key(1)).unwrap();
    let stored = store.get(pointer(&target)).unwrap().unwrap();
    for index in 0..stored.len() {
        let mut bytes = stored.clone();
        bytes[index] ^= 1;
        store.put(pointer(&target), &bytes).unwrap();
        let refusal = plans.open(&target, policy()).unwrap_err();
        assert!(
            matches!(refusal, PlanRefusal::WrongSignature(_)),
            "{index}: {refusal}"
        );
    }
    for cut in [stored.len() - 1, 0] {
        store.put(pointer(&target), &stored[..cut]).unwrap();
        assert!(plans.open(&target, policy()).is_err());
    }
}

/// CCOS-DEL-1, defect 9: so is a change of any letter of the signature.
#[test]
fn a_changed_signature_is_refused() {
    let store = MemoryStore::default();
    let plans = plans(&store);
    let target = plans.store(SOURCE, policy(), b"code", &key(1)).unwrap();
    let ExecTarget::L4CacheHit {
        storage_pointer,
        signature,
    } = target
    else {
        panic!("{target} is no compiled plan");
    };
    let mut kinds = BTreeSet::new();
    for index in 0..signature.len() {
        let mut changed = signature.clone().into_bytes();
        changed[index] = if changed[index] == b'0' { b'1' } else { b'0' };
        let refusal = plans
            .open(
                &ExecTarget::L4CacheHit {
                    storage_pointer: storage_pointer.clone(),
                    signature: String::from_utf8(changed).unwrap(),
                },
                policy(),
            )
            .unwrap_err();
        kinds.insert(match refusal {
            PlanRefusal::SignatureForm => "form",
            PlanRefusal::UnknownKey(_) => "key",
            PlanRefusal::WrongSignature(_) => "signature",
            other => panic!("{index}: {other}"),
        });
    }
    assert_eq!(kinds, BTreeSet::from(["form", "key", "signature"]));
}

/// CCOS-DEL-1, defect 9: a valid signature by a key that this machine does not trust is refused.
#[test]
fn a_signature_by_an_unknown_key_is_refused() {
    let store = MemoryStore::default();
    let target = plans(&store)
        .store(SOURCE, policy(), b"code", &key(2))
        .unwrap();
    assert_eq!(
        plans(&store).open(&target, policy()),
        Err(PlanRefusal::UnknownKey(key(2).verifying_key().id()))
    );
}

#[test]
fn a_missing_plan_is_refused() {
    let store = MemoryStore::default();
    let target = plans(&store)
        .store(SOURCE, policy(), b"code", &key(1))
        .unwrap();
    assert!(store.remove(pointer(&target)));
    assert_eq!(
        plans(&store).open(&target, policy()),
        Err(PlanRefusal::Missing(ContentHash::new(SOURCE, policy())))
    );
}

#[test]
fn a_plan_under_the_pointer_of_another_is_refused() {
    let store = MemoryStore::default();
    let plans = plans(&store);
    let asked = plans.store(SOURCE, policy(), b"code", &key(1)).unwrap();
    let other = plans.store("(+ 1 2)", policy(), b"sum", &key(1)).unwrap();
    let (
        ExecTarget::L4CacheHit {
            storage_pointer, ..
        },
        ExecTarget::L4CacheHit { signature, .. },
    ) = (asked, &other)
    else {
        panic!("no compiled plans");
    };
    let bytes = store.get(pointer(&other)).unwrap().unwrap();
    store.put(&storage_pointer, &bytes).unwrap();
    let mixed = ExecTarget::L4CacheHit {
        storage_pointer,
        signature: signature.clone(),
    };
    assert!(matches!(
        plans.open(&mixed, policy()),
        Err(PlanRefusal::OtherContent { .. })
    ));
}

#[test]
fn a_plan_of_another_policy_is_refused_and_has_another_key() {
    let store = MemoryStore::default();
    let plans = plans(&store);
    let target = plans.store(SOURCE, policy(), b"code", &key(1)).unwrap();
    let later = PolicyHash::of_policy(b"forbid everything");
    assert_ne!(
        ContentHash::new(SOURCE, policy()),
        ContentHash::new(SOURCE, later)
    );
    assert!(matches!(
        plans.open(&target, later),
        Err(PlanRefusal::OtherPolicy(_))
    ));
}

#[test]
fn a_pointer_that_is_no_hash_never_reaches_the_store() {
    struct Unreachable;
    impl PlanStore for Unreachable {
        fn get(&self, pointer: &str) -> Result<Option<Vec<u8>>, StoreError> {
            panic!("asked for {pointer}");
        }
        fn put(&self, _: &str, _: &[u8]) -> Result<(), StoreError> {
            Ok(())
        }
    }
    let plans = CompiledPlans::new(Unreachable, vec![key(1).verifying_key()]);
    let target = plans.store(SOURCE, policy(), b"code", &key(1)).unwrap();
    let ExecTarget::L4CacheHit { signature, .. } = target else {
        panic!("{target} is no compiled plan");
    };
    for pointer in ["", "../../etc/passwd", &"AB".repeat(32)] {
        let target = ExecTarget::L4CacheHit {
            storage_pointer: pointer.to_owned(),
            signature: signature.clone(),
        };
        let refusal = plans.open(&target, policy()).unwrap_err();
        assert!(matches!(refusal, PlanRefusal::Pointer(_)), "{refusal}");
    }
    assert!(matches!(
        plans.open(&ExecTarget::LocalPure, policy()),
        Err(PlanRefusal::OtherTarget(_))
    ));
}

#[test]
fn the_error_of_a_store_is_passed_on() {
    struct Broken;
    impl PlanStore for Broken {
        fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Err(StoreError("disk full".to_owned()))
        }
        fn put(&self, _: &str, _: &[u8]) -> Result<(), StoreError> {
            Err(StoreError("disk full".to_owned()))
        }
    }
    let plans = CompiledPlans::new(Broken, vec![key(1).verifying_key()]);
    let error = plans.store(SOURCE, policy(), b"", &key(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store of compiled plans failed: disk full"
    );
}

/// CCOS-DEL-1: semantic search proposes; what it proposes is verified like any other plan.
#[test]
fn similar_plans_are_proposed_in_order_and_odd_vectors_are_near_nothing() {
    let engine = Engine::default();
    let target = |id: &str| ExecTarget::LocalModel(id.to_owned());
    let mut plans = SimilarPlans::default();
    plans.add(vec![1.0, 0.0], target("same"));
    plans.add(vec![1.0, 1.0], target("near"));
    plans.add(vec![-1.0, 0.0], target("opposite"));
    plans.add(vec![0.0, 0.0], target("zero"));
    plans.add(vec![f32::NAN, 0.0], target("no number"));
    plans.add(vec![1.0, 0.0, 0.0], target("longer"));
    let vector = [2.0, 0.0];
    let call = CallContext::new(engine.symbol("a/b"), stable_hash([]), 0);
    assert_eq!(plans.propose(&call, -1.0, 9), []);
    let call = call.with_semantic(&vector);
    let proposed = |at_least, limit| -> Vec<ExecTarget> {
        let proposals = plans.propose(&call, at_least, limit).into_iter();
        proposals.map(|proposal| proposal.target).collect()
    };
    assert_eq!(
        proposed(-1.0, 9),
        [target("same"), target("near"), target("opposite")]
    );
    assert_eq!(proposed(0.5, 9), [target("same"), target("near")]);
    assert_eq!(proposed(0.5, 1), [target("same")]);
}
