//! Records wait, are written before effects, and are not lost.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use callosum_intent::delegation::DecisionRecord;

use crate::{call, engine_with_offer, now};

/// CCOS-DEL-2: an effect waits until the records are written, not only taken.
#[test]
fn an_effect_waits_until_records_are_written() {
    let (engine, symbol) = engine_with_offer("f");
    assert!(!engine.must_flush_before_effect());
    engine.decide(&call(symbol, 1, 2), now());
    assert!(engine.must_flush_before_effect());
    let batch = engine.take_records();
    assert_eq!(batch.len(), 1);
    assert!(engine.must_flush_before_effect());
    batch.written();
    assert!(!engine.must_flush_before_effect());
    // An empty batch holds up no effect.
    let empty = engine.take_records();
    assert!(empty.is_empty() && !engine.must_flush_before_effect());
    empty.written();
}

/// CCOS-DEL-2: records of a write that failed come again, in front of later ones.
#[test]
fn records_of_a_failed_write_return_in_order() {
    let (engine, symbol) = engine_with_offer("f");
    let tasks = [1, 2, 3].map(|number| call(symbol, number, 2));
    engine.decide(&tasks[0], now());
    engine.decide(&tasks[1], now());
    assert_eq!(engine.flush(|_| Err("disk full")), Err("disk full"));
    assert_eq!(engine.pending_records(), 2);
    let batch = engine.take_records();
    engine.decide(&tasks[2], now());
    drop(batch);
    let mut written = Vec::new();
    engine
        .flush(|records| {
            written.extend(records.iter().map(|record| record.task_hash));
            Ok::<(), Infallible>(())
        })
        .unwrap();
    assert_eq!(written, tasks.map(|task| task.task_hash()));
    assert!(!engine.must_flush_before_effect());
}

/// CCOS-DEL-2: eight threads decide while two write; each decision is written once.
#[test]
fn no_record_is_lost_or_doubled_under_eight_threads() {
    const EACH: u64 = 20_000;
    let (engine, symbol) = engine_with_offer("f");
    let (written, deciding) = (AtomicUsize::new(0), AtomicUsize::new(8));
    let sums: Vec<AtomicUsize> = (0..8).map(|_| AtomicUsize::new(0)).collect();
    let write = |records: &[DecisionRecord]| {
        written.fetch_add(records.len(), Ordering::Relaxed);
        for record in records {
            let thread = record.at.as_second() as usize;
            let number = record.at.subsec_nanosecond() as usize;
            sums[thread].fetch_add(number, Ordering::Relaxed);
        }
        Ok::<(), Infallible>(())
    };
    thread::scope(|scope| {
        for thread in 0..8 {
            let (engine, deciding) = (&engine, &deciding);
            scope.spawn(move || {
                for number in 0..EACH {
                    let at = jiff::Timestamp::new(thread, number as i32).unwrap();
                    engine.decide(&call(symbol, number % 50, 1), at);
                }
                deciding.fetch_sub(1, Ordering::AcqRel);
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                while deciding.load(Ordering::Acquire) > 0 {
                    let batch = engine.take_records();
                    if batch.len() % 3 == 1 {
                        // Not written: the records return.
                        continue;
                    }
                    write(&batch).unwrap();
                    batch.written();
                }
            });
        }
    });
    engine.flush(write).unwrap();
    assert_eq!(written.into_inner() as u64, 8 * EACH);
    for sum in sums {
        assert_eq!(sum.into_inner() as u64, EACH * (EACH - 1) / 2);
    }
}

/// CCOS-DEL-2: records of threads that ended, and of more threads than the engine has rings for.
#[test]
fn records_of_many_short_threads_arrive() {
    let (engine, symbol) = engine_with_offer("f");
    let barrier = std::sync::Barrier::new(100);
    for _ in 0..3 {
        thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    barrier.wait();
                    engine.decide(&call(symbol, 1, 2), now());
                    barrier.wait();
                });
            }
        });
    }
    let batch = engine.take_records();
    assert_eq!(batch.len(), 300);
    batch.written();
}

/// CCOS-DEL-2: a record is plain data, and is read back from JSON.
#[test]
fn a_record_is_read_back_from_json() {
    let (engine, symbol) = engine_with_offer("team::f");
    engine.decide(&call(symbol, 1, 2), now());
    let batch = engine.take_records();
    let json = serde_json::to_value(&batch[0]).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "symbol": "team::f",
            "task-hash": call(symbol, 1, 2).task_hash().to_string(),
            "target": "local:phi",
            "why": "metadata",
            "confidence": batch[0].confidence,
            "policy-epoch": "0000000000000000",
            "at": "2027-01-15T08:00:00Z",
        })
    );
    assert_eq!(
        serde_json::from_value::<DecisionRecord>(json).unwrap(),
        batch[0]
    );
    batch.written();
}

/// CCOS-DEL-2: a flush waits for the batch of another thread.
#[test]
fn a_flush_waits_for_the_batch_of_another_thread() {
    let (engine, symbol) = engine_with_offer("f");
    engine.decide(&call(symbol, 1, 2), now());
    let is_written = AtomicUsize::new(0);
    thread::scope(|scope| {
        let batch = engine.take_records();
        let flushing = scope.spawn(|| {
            engine.flush(|_| Ok::<(), Infallible>(())).unwrap();
            is_written.load(Ordering::SeqCst)
        });
        // Time for a flush that does not wait to end too early.
        (0..2_000).for_each(|_| thread::yield_now());
        is_written.store(1, Ordering::SeqCst);
        batch.written();
        assert_eq!(flushing.join().unwrap(), 1);
    });
}
