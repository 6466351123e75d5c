//! Cost of counting claims, in files opened.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use callosum_host::Clock;
use callosum_session::{
    ClaimScope, Enforcement, Session, Zones, grounding::Tally, trajectory::Agent,
};
use callosum_testkit::disk::{Image, MemoryDisk, ObservedDisk};

/// Returns the number of times each file is opened while so many claims about one line are counted.
fn openings(claims: usize) -> Vec<PathBuf> {
    let root = Path::new("/project");
    let zones = Zones {
        root: root.to_owned(),
        tree: root.to_owned(),
    };
    let mut trajectory = String::new();
    for number in 0..claims {
        let _ = writeln!(
            trajectory,
            "{{\"phase\":\"cite\",\"ts\":\"2026-01-02T00:00:00Z\",\"agent\":\"a\",\"claim\":\"number {number}\",\
             \"grounding\":\"citation\",\"evidence\":[{{\"path\":\"${{PROJECT_ROOT}}/a.rs\",\"line\":1,\"quote\":\"fn one() {{}}\"}}]}}"
        );
    }
    let mut image = Image::with_folder(root);
    image.put_file(root.join("a.rs"), "fn one() {}\n");
    image.put_folder(root.join("loa-grimoire"));
    image.put_folder(root.join("loa-grimoire/a2a"));
    image.put_folder(zones.trajectories());
    image.put_file(zones.trajectories().join("a-2026-01-02.jsonl"), trajectory);
    let opened = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&opened);
    let disk = ObservedDisk::disk(MemoryDisk::with(&image), move |path| {
        log.lock().unwrap().push(path.to_owned());
    });
    let clock = Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO);
    let session = Session {
        disk: &disk,
        zones: &zones,
        clock: &clock,
        agent: Agent::new("a").unwrap(),
    };
    let tally =
        Tally::since_handoff(&session, ClaimScope::Everyone, 3, Enforcement::Standard).unwrap();
    assert_eq!((tally.total, tally.lacking), (claims, 0));
    let opened = opened.lock().unwrap();
    opened.clone()
}

/// LOA-PERF-1: a cited file is opened once, and no file more often for a thousand claims than for one.
#[test]
fn no_file_is_opened_more_often_for_more_claims() {
    let one = openings(1);
    let cited = |path: &&PathBuf| path.ends_with("a.rs");
    assert_eq!(one.iter().filter(cited).count(), 1, "{one:?}");
    assert_eq!(openings(1000), one);
}
