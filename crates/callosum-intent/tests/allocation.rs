//! Memory of a hit. In a program of its own: the allocator counts for all threads.

use callosum_intent::delegation::{CallContext, Engine, ExecTarget, Offer, Symbol, Why};
use jiff::Timestamp;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// CCOS-DEL-3, defect 7: no hit allocates, also with 1,000 entries and a record for each.
#[test]
fn a_hit_allocates_nothing() {
    let engine = Engine::default();
    let symbols: Vec<Symbol> = (0..10)
        .map(|number| {
            let symbol = engine.symbol(&format!("team::agent-{number}"));
            engine.offer(symbol, Offer::new(ExecTarget::LocalModel("phi".to_owned())));
            symbol
        })
        .collect();
    let fixed = engine.symbol("fixed");
    engine.set_routes([("fixed", ExecTarget::RemoteModel("codex".to_owned()))]);
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let calls = || {
        let numbers = 0..1_000_u64;
        numbers.map(|number| CallContext::new(symbols[number as usize % 10], number, 7))
    };
    for call in calls() {
        engine.decide(&call, now);
    }
    engine.take_records().written();

    let allocates = || {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        for call in calls() {
            assert_eq!(engine.decide(&call, now).why, Why::Hit);
            let fixed = engine.decide(&CallContext::new(fixed, 1, 2), now);
            assert_eq!(fixed.why, Why::Static);
        }
        let usage = [MEMORY.peak_usage(), MEMORY.current_usage()];
        assert_eq!(engine.pending_records(), 2_000);
        engine.take_records().written();
        usage != [before; 2]
    };
    // The thread of the test runner may allocate meanwhile, but not every time.
    assert!((0..20).any(|_| !allocates()));
}
