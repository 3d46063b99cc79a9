//! The program is killed, and run again: nothing of ours is ever off the record, and the next run
//! gets there.
//!
//! Where it dies is a byte on its way to the server, drawn from a seed. `KUBESETTLE_KILLS` is how many
//! such points there are, `KUBESETTLE_OBJECTS` the size of the large set.

use std::collections::BTreeSet;
use std::path::Path;

use e2e::manifests::{config_map, stream};
use e2e::{LIMIT, World, settle, unique};
use harness::{TcpProxy, shared, wait_until};
use serde_json::{Value, json};

tests![
    f13_a_record_in_parts_survives_a_kill_between_two_of_them,
    f23_killed_at_any_byte_the_next_run_converges,
];

const MARK: &str = "config.k8s.io/owning-inventory";

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// ConfigMaps of one test, each with one value.
fn maps(prefix: &str, objects: &[(String, &str)]) -> Vec<Value> {
    let map = |(name, value): &(String, &str)| {
        let mut map = config_map(&format!("{prefix}{name}"));
        map["data"]["key"] = json!(value);
        map
    };
    objects.iter().map(map).collect()
}

/// A set among others in one namespace.
struct Set<'w> {
    world: &'w World,
    name: String,
}

impl Set<'_> {
    fn apply(&self, objects: &[Value], config: &Path) -> e2e::Settle {
        let words = ["apply", "--set", &self.name, "-n", self.world.name(), "--lock-timeout=90s"];
        settle(shared(), &words).kubeconfig(config).input(stream(objects)).args(["-o", "json"])
    }

    fn list(&self, query: &str) -> Vec<Value> {
        let path = format!("/api/v1/namespaces/{}/configmaps?{query}", self.world.name());
        let list = shared().api().get(&path).expect("an answer").success().json();
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Names of the live objects that carry the mark of the set.
    fn marked(&self) -> BTreeSet<String> {
        let id = format!("{}_{}", self.world.name(), self.name);
        let ours = |map: &Value| map["metadata"]["annotations"][MARK] == id.as_str();
        let all = self.list("").into_iter().filter(ours);
        all.map(|map| map["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Names of the objects on record, and in how many parts it is.
    fn recorded(&self) -> (BTreeSet<String>, usize) {
        let label = format!("cli-utils.sigs.k8s.io/inventory-id={}_{}", self.world.name(), self.name);
        let parts = self.list(&format!("labelSelector={label}"));
        let keys = parts.iter().filter_map(|part| part["data"].as_object()).flat_map(|data| data.keys());
        let names = keys.filter_map(|key| Some(key.split('_').nth(1)?.to_owned())).collect();
        (names, parts.len())
    }

    #[track_caller]
    fn assert_nothing_lost(&self, when: &str) {
        let (marked, (recorded, _)) = (self.marked(), self.recorded());
        let lost: Vec<_> = marked.difference(&recorded).take(5).collect();
        assert!(lost.is_empty(), "{when}: live, marked and not on record: {lost:?} of {}", marked.len());
    }

    /// Runs an apply that dies when so many bytes have reached the server; whether it died.
    fn apply_killed_after(&self, objects: &[Value], bytes: u64) -> bool {
        let proxy = shared().proxy();
        proxy.silence_after(bytes);
        let running = self.apply(objects, &self.world.user.kubeconfig_via(&proxy)).start();
        wait_until("the byte to be reached, or the end", LIMIT, || {
            proxy.is_silent() || running.stdout().contains("\"type\":\"end\"")
        });
        let died = proxy.is_silent();
        drop(if died { running.kill() } else { running.finish(LIMIT) });
        died
    }
}

/// The bytes that a run sends.
fn sent(proxy: &TcpProxy, run: impl FnOnce()) -> u64 {
    let before = proxy.traffic().sent;
    run();
    proxy.traffic().sent - before
}

fn f23_killed_at_any_byte_the_next_run_converges() {
    let world = World::new("kill");
    let named = |pairs: &[(&str, &'static str)]| -> Vec<(String, &str)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    };
    let before = named(&[("stays", "1"), ("changes", "1"), ("goes-a", "1"), ("goes-b", "1")]);
    let after = named(&[("stays", "1"), ("changes", "2"), ("comes-a", "1"), ("comes-b", "1")]);
    let config = world.user.kubeconfig();
    let whole = {
        let set = Set { world: &world, name: unique("whole") };
        let prefix = format!("{}-", set.name);
        set.apply(&maps(&prefix, &before), config).run().exits_with(0);
        let proxy = shared().proxy();
        let via = world.user.kubeconfig_via(&proxy);
        sent(&proxy, || drop(set.apply(&maps(&prefix, &after), &via).run().success()))
    };
    let kills = number("KUBESETTLE_KILLS", 16);
    let died = std::sync::atomic::AtomicUsize::new(0);
    let mut seed: u64 = 0x2545_F491_4F6C_DD1D;
    let mut points: Vec<u64> = (0..kills as u64)
        .map(|nth| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (width, at) = (whole / kills as u64, seed >> 33);
            nth * width + at % width.max(1)
        })
        .collect();
    points.sort_unstable();
    std::thread::scope(|scope| {
        for chunk in points.chunks(kills.div_ceil(16)) {
            let (world, before, after, died) = (&world, &before, &after, &died);
            scope.spawn(move || {
                for bytes in chunk {
                    let set = Set { world, name: unique("killed") };
                    let prefix = format!("{}-", set.name);
                    let (before, after) = (maps(&prefix, before), maps(&prefix, after));
                    set.apply(&before, config).run().exits_with(0);
                    if set.apply_killed_after(&after, *bytes) {
                        died.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                    set.assert_nothing_lost(&format!("killed at byte {bytes}"));
                    set.apply(&after, config).run().exits_with(0);
                    let wanted: BTreeSet<String> = after
                        .iter()
                        .map(|map| map["metadata"]["name"].as_str().unwrap().to_owned())
                        .collect();
                    assert_eq!(set.marked(), wanted, "after the run that follows byte {bytes}");
                    assert_eq!(set.recorded(), (wanted, 1), "after the run that follows byte {bytes}");
                }
            });
        }
    });
    let died = died.into_inner();
    assert!(died * 4 > kills * 3, "{died} of {kills} runs were killed, of {whole} bytes each");
}

fn f13_a_record_in_parts_survives_a_kill_between_two_of_them() {
    let count = number("KUBESETTLE_OBJECTS", 5_000);
    let world = World::new("parts");
    let set = Set { world: &world, name: unique("large") };
    let long = |nth: usize| (format!("{nth:05}-{}", "long".repeat(45)), "1");
    let first: Vec<_> = (0..count).map(long).collect();
    // A tenth goes, a tenth comes.
    let second: Vec<_> = (count / 10..count + count / 10).map(long).collect();
    let (first, second) = (maps("", &first), maps("", &second));

    // Each part has some 400 kB and more: here the second is on its way.
    assert!(set.apply_killed_after(&first, 600_000));
    let (recorded, parts) = set.recorded();
    assert!(!recorded.is_empty() && recorded.len() < count, "{parts} parts, {} names", recorded.len());
    assert!(set.marked().is_empty(), "nothing is applied before all of it is on record");
    let applied = set.apply(&first, world.user.kubeconfig()).run();
    applied.exits_with(0);
    let (recorded, parts) = set.recorded();
    assert!(parts >= count.div_ceil(2_000), "{parts} parts");
    assert_eq!((recorded.len(), set.marked()), (count, recorded));

    assert!(set.apply_killed_after(&second, 600_000));
    set.assert_nothing_lost("killed between two parts of the union");
    assert_eq!(set.marked().len(), count, "nothing was done yet");
    set.apply(&second, world.user.kubeconfig()).run().exits_with(0);
    let (recorded, _) = set.recorded();
    assert_eq!((recorded.len(), set.marked()), (count, recorded));
}
