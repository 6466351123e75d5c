//! The cache against a model: a list in order of use.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::prelude::*;

use super::{super::task_hash::spread, *};
use crate::delegation::{decision::Why, stripe::RawRecord, target::ExecTarget};

const CAPACITY: usize = 6;

fn key(number: u64) -> Key {
    Key {
        symbol: number as u32 % 3,
        fingerprint: number,
        context: number / 2,
    }
}

/// All keys share the last two cells of the index, so that each search runs around its end.
fn crowded(number: u64) -> u64 {
    (u64::MAX << 60) | (number & 1) << 59 | number
}

fn entry(number: u64, hash: u64) -> Entry {
    Entry {
        key: key(number),
        task: TaskHash::new(number, number / 2),
        hash,
        target: number as u32,
        plan: Arc::new(DelegationPlan {
            target: ExecTarget::LocalPure,
            confidence: 1.0,
            reasoning: String::new(),
            metadata: BTreeMap::new(),
        }),
    }
}

fn numbers(number: u64) -> Numbers {
    Numbers {
        target: number as u32,
        millionths: 0,
        validity: 2,
        policy: 9,
        inserted: 0,
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Use(u64),
    Insert(u64),
    Remove(u64),
    Take,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..12_u64).prop_map(Step::Use),
        4 => (0..12_u64).prop_map(Step::Insert),
        1 => (0..12_u64).prop_map(Step::Remove),
        1 => Just(Step::Take),
    ];
    prop::collection::vec(step, 0..200)
}

fn follows_the_model(steps: &[Step], hash: impl Fn(u64) -> u64) {
    let cache = Cache::new(CAPACITY, i64::MAX);
    let stripes = Stripes::new();
    // Keys in order of use, the newest last.
    let mut model: Vec<u64> = Vec::new();
    for step in steps {
        match *step {
            Step::Use(number) => {
                let hit = cache.lookup(&key(number), hash(number), 2, 0);
                assert_eq!(hit.map(|hit| hit.target), {
                    let known = model.contains(&number);
                    known.then_some(number as u32)
                });
                if let Some(hit) = hit {
                    model.retain(|it| *it != number);
                    model.push(number);
                    stripes.push(&RawRecord {
                        at: 0,
                        task: 0,
                        policy: 0,
                        symbol: 0,
                        target: 0,
                        touch: hit.touch,
                        millionths: 0,
                        why: Why::Hit,
                    });
                }
            }
            Step::Insert(number) => {
                let entry = entry(number, hash(number));
                cache.insert(&mut cache.shelf(), &stripes, entry, &numbers(number));
                model.retain(|it| *it != number);
                model.push(number);
                if model.len() > CAPACITY {
                    model.remove(0);
                }
            }
            Step::Remove(number) => {
                let removed = cache.remove_where(&mut cache.shelf(), |it| it.key == key(number));
                assert_eq!(removed == 1, model.contains(&number));
                model.retain(|it| *it != number);
            }
            Step::Take => {
                let (_, uses) = stripes.take();
                cache.apply(&mut cache.shelf(), &uses);
            }
        }
        assert_eq!(cache.shelf().len(), model.len());
        for number in 0..12 {
            let hit = cache.lookup(&key(number), hash(number), 2, 0);
            assert_eq!(hit.is_some(), model.contains(&number), "{number}");
        }
    }
}

proptest! {
    /// CCOS-DEL-3: the entry that was not used for the longest time is evicted, and no other.
    #[test]
    fn the_order_of_eviction_is_that_of_a_list(steps in steps()) {
        follows_the_model(&steps, |number| spread(key(number).symbol, TaskHash::new(number, number / 2).get()));
    }

    /// CCOS-DEL-3: the same, with hashes that collide.
    #[test]
    fn entries_with_colliding_hashes_are_found_and_removed(steps in steps()) {
        follows_the_model(&steps, crowded);
    }
}

#[test]
fn the_same_hash_is_not_the_same_key() {
    let cache = Cache::new(CAPACITY, i64::MAX);
    let stripes = Stripes::new();
    cache.insert(&mut cache.shelf(), &stripes, entry(1, 7), &numbers(1));
    cache.insert(&mut cache.shelf(), &stripes, entry(2, 7), &numbers(2));
    let target = |number| cache.lookup(&key(number), 7, 2, 0).map(|hit| hit.target);
    assert_eq!([target(1), target(2), target(3)], [Some(1), Some(2), None]);
}

#[test]
fn a_use_of_an_evicted_entry_does_not_move_the_entry_that_took_its_slot() {
    let cache = Cache::new(1, i64::MAX);
    let stripes = Stripes::new();
    cache.insert(&mut cache.shelf(), &stripes, entry(1, 1), &numbers(1));
    let old = cache.lookup(&key(1), 1, 2, 0).unwrap().touch;
    cache.insert(&mut cache.shelf(), &stripes, entry(2, 2), &numbers(2));
    let new = cache.lookup(&key(2), 2, 2, 0).unwrap().touch;
    assert_eq!(old.slot, new.slot);
    assert_ne!(old.version, new.version);
}

#[test]
fn a_cache_without_capacity_stores_nothing() {
    let cache = Cache::new(0, i64::MAX);
    let stripes = Stripes::new();
    cache.insert(&mut cache.shelf(), &stripes, entry(1, 1), &numbers(1));
    assert_eq!(cache.lookup(&key(1), 1, 2, 0), None);
}

/// CCOS-DEL-3: a reader without a lock never has the key of one entry and the target of another.
#[test]
fn readers_never_see_half_of_two_entries() {
    // Two keys take turns in one slot, so that a reader meets a writer often.
    let table = Table::new(1, i64::MAX);
    let hash = |number: u64| number << 62 | number;
    let write = |number: u64| table.write(0, &key(number), &numbers(number));
    for number in [0, 1] {
        table.link(hash(number), 0);
    }
    write(0);
    let is_over = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0_u64;
            // The last entry stays, so a reader that starts late sees it.
            while seen == 0 || !is_over.load(Ordering::Relaxed) {
                for number in [0, 1] {
                    if let Some(hit) = table.lookup(&key(number), hash(number), 2, 0) {
                        assert_eq!(u64::from(hit.target), number);
                        seen += 1;
                    }
                }
            }
            seen
        });
        for number in [0, 1].into_iter().cycle().take(1_000_000) {
            write(number);
        }
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(seen > 0);
}
