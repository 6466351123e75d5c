//! Properties of hashes, targets, and the order of eviction.

use std::collections::HashSet;

use callosum_intent::delegation::{ExecTarget, Offer, TaskHash, Why};
use proptest::prelude::*;

use crate::{call, engine, local, now};

fn target() -> impl Strategy<Value = ExecTarget> {
    // Many texts that could be mistaken for a prefix, an escape or a separator.
    let id = prop_oneof![
        any::<String>(),
        "(local|remote|l4|pure|[-:%]|25|3A|[a-z]){0,6}",
    ];
    prop_oneof![
        Just(ExecTarget::LocalPure),
        id.clone().prop_map(ExecTarget::LocalModel),
        id.clone().prop_map(ExecTarget::RemoteModel),
        (id.clone(), id).prop_map(|(storage_pointer, signature)| ExecTarget::L4CacheHit {
            storage_pointer,
            signature
        }),
    ]
}

proptest! {
    /// CCOS-DEL-1, defect 3: a target is read back from its text, and from JSON.
    #[test]
    fn every_target_is_read_back_from_its_text(target in target()) {
        prop_assert_eq!(target.to_string().parse(), Ok(target.clone()));
        let json = serde_json::to_string(&target).unwrap();
        prop_assert_eq!(serde_json::from_str::<ExecTarget>(&json).unwrap(), target);
    }

    /// CCOS-DEL-1: what is read has one spelling, or one of the seed's two.
    #[test]
    fn what_is_read_is_written_back(text in "(local|remote|l4|-|:|%|25|3A|pure|x){0,6}") {
        if let Ok(target) = text.parse::<ExecTarget>() {
            prop_assert_eq!(target.to_string().parse(), Ok(target));
        }
    }

    /// CCOS-DEL-3, defect 2: one changed bit changes about half of the hash, and never none of it.
    #[test]
    fn every_bit_changes_the_task_hash(fingerprint: u64, context: u64, bit in 0..64_u32) {
        let hash = TaskHash::new(fingerprint, context).get();
        for changed in [
            TaskHash::new(fingerprint ^ 1 << bit, context),
            TaskHash::new(fingerprint, context ^ 1 << bit),
        ] {
            let distance = (hash ^ changed.get()).count_ones();
            prop_assert!((8..=56).contains(&distance), "{distance}");
        }
        if fingerprint != context {
            prop_assert_ne!(hash, TaskHash::new(context, fingerprint).get());
        }
    }

    /// CCOS-DEL-3: the engine evicts what was not used for the longest time.
    #[test]
    fn the_engine_evicts_in_the_order_of_a_list(uses in prop::collection::vec(0..9_u64, 0..300)) {
        let engine = engine(4);
        let symbol = engine.symbol("f");
        engine.offer(symbol, Offer::new(local("phi")));
        let mut model: Vec<u64> = Vec::new();
        for (index, &number) in uses.iter().enumerate() {
            let expected = if model.contains(&number) { Why::Hit } else { Why::Metadata };
            let decision = engine.decide(&call(symbol, number, number), now());
            prop_assert_eq!(decision.why, expected);
            model.retain(|other| *other != number);
            model.push(number);
            if model.len() > 4 {
                model.remove(0);
            }
            if index % 7 == 0 {
                engine.take_records().written();
            }
        }
        prop_assert_eq!(engine.len(), model.len());
    }
}

/// CCOS-DEL-3, defect 2: small numbers, as a counter gives them, have different hashes in every bit range.
#[test]
fn small_numbers_do_not_collide() {
    let hashes: Vec<u64> = (0..300)
        .flat_map(|first| (0..300).map(move |second| TaskHash::new(first, second).get()))
        .collect();
    let distinct = |part: fn(u64) -> u64| -> usize {
        hashes
            .iter()
            .map(|&hash| part(hash))
            .collect::<HashSet<_>>()
            .len()
    };
    assert_eq!(distinct(|hash| hash), hashes.len());
    // 90,000 draws from 2^32 numbers meet about once.
    assert!(distinct(|hash| hash >> 32) > hashes.len() - 20);
    assert!(distinct(|hash| hash & 0xFFFF_FFFF) > hashes.len() - 20);
    // XOR has 512 results here.
    assert_eq!(distinct(|hash| hash >> 54), 1_024);
}
