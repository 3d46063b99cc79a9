//! What a digest costs: allocations while it is made, bytes while it is kept.

use kstatus::{Kind, Status, digest, digest_as};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const READY: &[u8] = include_bytes!("data/pod-ready.json");
const BACK_OFF: &[u8] = include_bytes!("data/pod-image-pull-back-off.json");

/// Blocks allocated by `work`, and bytes still allocated when it has returned and its result is
/// alive. The counters are the process's and the test runner has a thread of its own, which can only
/// add: the least of a few measurements is the work's own.
fn cost<T>(work: impl Fn() -> T) -> (u64, u64) {
    let measure = || {
        let before = dhat::HeapStats::get();
        let result = work();
        let after = dhat::HeapStats::get();
        drop(result);
        let kept = after.curr_bytes.saturating_sub(before.curr_bytes) as u64;
        (after.total_blocks - before.total_blocks, kept)
    };
    let measured: Vec<(u64, u64)> = (0..8).map(|_| measure()).collect();
    let least = |of: fn(&(u64, u64)) -> u64| measured.iter().map(of).min().unwrap_or_default();
    (least(|(blocks, _)| *blocks), least(|(_, kept)| *kept))
}

// One test: the counters are the process's.
#[test]
fn a_digest_takes_ten_allocations_and_a_few_hundred_bytes() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let pod = Kind::new("v1", "Pod");
    for (name, json, status, most_bytes) in
        [("ready", READY, Status::Current, 250), ("image pull back-off", BACK_OFF, Status::InProgress, 600)]
    {
        let digested = digest_as(&pod, json).unwrap();
        assert_eq!(digested.own_status(), status);
        let (blocks, heap) = cost(|| digest_as(&pod, json));
        let kept = size_of_val(&digested) as u64 + heap;
        println!("{name}: {} B read, {blocks} allocations, {kept} B kept", json.len());
        assert!(blocks <= 10, "{name}: {blocks} allocations");
        assert!(kept <= most_bytes, "{name}: {kept} B kept");
        assert!(kept <= digested.kept_bytes() as u64 + 16, "{name}: kept_bytes says less");

        let (blocks, _) = cost(|| digest(json));
        println!("{name}, type read from the object: {blocks} allocations");
        assert!(blocks <= 10, "{name}: {blocks} allocations with its type");
    }
}
