use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use serde_json::json;

use super::super::{Entries, Inventory, Limits, WriteKind, WriteOptions, items};
use super::*;

fn few(entries: usize) -> WriteOptions {
    WriteOptions { limits: Limits { entries, bytes: usize::MAX }, ..WriteOptions::default() }
}

fn numbered(numbers: impl IntoIterator<Item = usize>) -> Entries {
    plain(&numbers.into_iter().map(|number| cm(&format!("o{number:05}"))).collect::<Vec<_>>())
}

/// Writes a wish and gives the kinds and names of the requests.
fn write(
    server: &mut Server,
    inventory: &mut Inventory,
    target: &Entries,
    options: &WriteOptions,
) -> Vec<(WriteKind, String)> {
    let mut sent = Vec::new();
    for write in inventory.writes(target, options) {
        let (uid, version) = server.send(&write);
        inventory.wrote(&write, &uid, &version);
        sent.push((write.kind(), write.target().name().to_owned()));
    }
    sent
}

fn texts(sent: &[(WriteKind, String)]) -> Vec<String> {
    sent.iter().map(|(kind, name)| format!("{kind:?} {name}")).collect()
}

#[test]
fn two_thousand_objects_stand_in_one_config_map_and_one_more_makes_a_second() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    let options = WriteOptions::default();
    assert_eq!(texts(&write(&mut server, &mut inventory, &numbered(0..2_000), &options)), ["Create inv"]);
    assert_eq!(server.index("inv"), None);
    let sent = write(&mut server, &mut inventory, &numbered(0..2_001), &options);
    assert_eq!(texts(&sent), ["Create inv-1", "Replace inv"]);
    assert_eq!(server.index("inv"), Some("inv-1"));
    assert_eq!(inventory.shards().map(|shard| shard.entries).collect::<Vec<_>>(), [2_000, 1]);
    for part in server.objects.values() {
        assert_eq!(part["metadata"]["labels"][ID_LABEL], "shop_inv");
    }
    assert_eq!(server.objects["inv-1"]["metadata"]["annotations"]["kubesettle.io/inventory-part-of"], "inv");
}

#[test]
fn a_part_is_full_at_the_limit_of_bytes_too() {
    let limits = Limits { entries: usize::MAX, bytes: 700_000 };
    let options = WriteOptions { limits, ..WriteOptions::default() };
    let ids: Vec<_> = (0..5_000).map(|n| cm(&format!("{n:0200}"))).collect();
    let writes = new_inventory().writes(&plain(&ids), &options);
    assert_eq!(writes.len(), 2);
    for write in &writes {
        let body: Value = serde_json::from_slice(write.body()).unwrap();
        let bytes = body["data"].to_string().len();
        assert!((bytes..=700_000).contains(&bytes) && bytes > 400_000, "{bytes}");
    }
    assert!(writes[0].body().len() + writes[1].body().len() > 1_000_000);
}

#[test]
fn one_new_object_rewrites_one_part() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    write(&mut server, &mut inventory, &numbered((0..30).map(|n| 2 * n)), &few(10));
    assert_eq!(server.index("inv"), Some("inv-1,inv-2"));
    let without = numbered((0..30).map(|n| 2 * n).filter(|n| *n != 22));
    assert_eq!(texts(&write(&mut server, &mut inventory, &without, &few(10))), ["Replace inv-1"]);
    let mut with = without.clone();
    with.extend(numbered([1]));
    assert_eq!(texts(&write(&mut server, &mut inventory, &with, &few(10))), ["Replace inv-1"]);
    assert_eq!(*server.read(&set("inv")).entries(), with);
}

#[test]
fn a_smaller_set_needs_fewer_parts_again_and_the_last_leaves_no_index() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    write(&mut server, &mut inventory, &numbered(0..10), &few(4));
    let sent = write(&mut server, &mut inventory, &numbered((0..10).filter(|n| n % 2 == 0)), &few(4));
    assert_eq!(texts(&sent), ["Replace inv", "Replace inv-1", "Delete inv-2"]);
    let sent = write(&mut server, &mut inventory, &numbered([0, 4]), &few(4));
    assert_eq!(texts(&sent), ["Replace inv", "Delete inv-1"]);
    assert_eq!(server.index("inv"), None);
    assert_eq!(*server.read(&set("inv")).entries(), numbered([0, 4]));
}

#[test]
fn a_large_inventory_of_kapply_is_divided_and_can_be_given_back_in_one_piece() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    let all = numbered(0..4_900);
    let whole = WriteOptions { limits: Limits::ONE_OBJECT, ..WriteOptions::default() };
    assert_eq!(texts(&write(&mut server, &mut inventory, &all, &whole)), ["Create inv"]);
    let before = server.objects["inv"]["data"].clone();
    let sent = write(&mut server, &mut inventory, &all, &WriteOptions::default());
    assert_eq!(texts(&sent), ["Create inv-1", "Create inv-2", "Replace inv"]);
    let sent = write(&mut server, &mut inventory, &all, &whole);
    assert_eq!(texts(&sent), ["Replace inv", "Delete inv-1", "Delete inv-2"]);
    assert_eq!(server.objects["inv"]["data"], before);
}

#[test]
fn a_new_part_takes_no_name_that_an_object_of_the_set_or_somebody_else_has() {
    let mut target = numbered(0..4);
    target.extend(plain(&[cm("inv-1")]));
    let avoid = ["inv-2".to_owned()].into();
    let options = WriteOptions { avoid, ..few(4) };
    let writes = new_inventory().writes(&target, &options);
    assert_eq!(writes[0].to_string(), "create ConfigMap shop/inv-3 (1 entries)");
}

#[test]
fn parts_of_a_set_with_the_longest_name_have_valid_names() {
    let name = "n".repeat(253);
    let inventory = Inventory::read(&set(&name), &[]).unwrap();
    let writes = inventory.writes(&numbered(0..3), &few(1));
    let names: Vec<_> = writes.iter().map(|write| write.target().name().to_owned()).collect();
    assert_eq!(names.len(), 3);
    assert_eq!(names[2], name);
    for part in &names[..2] {
        assert!(part.len() <= 253 && part.starts_with("nnn"), "{part}");
    }
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_part_that_nobody_names_is_found_by_what_it_says_of_itself() {
    let part_of = json!({ "kubesettle.io/inventory-part-of": "inv" });
    let found = [
        config_map("inv", "shop_inv", json!({ PARTS: "inv-1, inv-2" }), json!({ "shop_a__ConfigMap": "" })),
        config_map("inv-1", "shop_inv", part_of.clone(), json!({ "shop_b__ConfigMap": "" })),
        config_map("inv-3", "shop_inv", part_of, json!({ "shop_c__ConfigMap": "", "shop_a__ConfigMap": "" })),
    ];
    let found: Vec<&[u8]> = found.iter().map(Vec::as_slice).collect();
    let inventory = Inventory::read(&set("inv"), &found).unwrap();
    assert_eq!(names(inventory.entries()), ["a", "b", "c"]);
    assert_eq!(
        inventory.notes(),
        [
            "ConfigMap shop/inv names its part inv-2, which does not exist; \
             kubectl settle inventory rebuild -n shop --set inv finds what it may have named",
            "ConfigMap shop/inv-3 is a part of shop/inv that is not named there; it counts",
        ]
    );
    let shards: Vec<_> = inventory.shards().map(|shard| (shard.name, shard.uid)).collect();
    assert_eq!(shards, [("inv", "uid-inv"), ("inv-1", "uid-inv-1"), ("inv-3", "uid-inv-3")]);
}

#[test]
fn parts_whose_first_config_map_was_deleted_are_not_lost() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    write(&mut server, &mut inventory, &numbered(0..6), &few(2));
    server.objects.remove("inv");
    let mut inventory = server.read(&set("inv"));
    assert_eq!(*inventory.entries(), numbered(2..6));
    let sent = write(&mut server, &mut inventory, &numbered(0..6), &few(2));
    assert_eq!(texts(&sent), ["Create inv"]);
    assert_eq!(*server.read_by_name(&set("inv")).entries(), numbered(0..6));
}

#[test]
fn an_inventory_is_removed_with_its_first_config_map_last() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    write(&mut server, &mut inventory, &numbered(0..6), &few(2));
    let mut sent = Vec::new();
    for write in inventory.removal() {
        sent.push(write.to_string());
        server.send(&write);
        inventory.wrote(&write, "", "");
    }
    assert_eq!(
        sent,
        ["delete ConfigMap shop/inv-2", "delete ConfigMap shop/inv-1", "delete ConfigMap shop/inv"]
    );
    assert!(server.objects.is_empty() && !inventory.exists() && inventory.entries().is_empty());
}

#[test]
fn a_list_is_taken_apart_into_its_config_maps() {
    let list = br#"{"kind":"ConfigMapList","items":[{"metadata":{"name":"a"}}, {"metadata":{"name":"b"}}]}"#;
    assert_eq!(items(list).unwrap(), [&br#"{"metadata":{"name":"a"}}"#[..], br#"{"metadata":{"name":"b"}}"#]);
    assert_eq!(items(br#"{"items":null}"#).unwrap(), [] as [&[u8]; 0]);
    for wrong in [&b"[]"[..], b"{}", b"<html>"] {
        assert!(items(wrong).is_err());
    }
}

/// Wishes of a few objects with nasty names, and the limits under which each is written.
fn wishes() -> impl proptest::strategy::Strategy<Value = Vec<(Entries, Limits, bool)>> {
    let ids = proptest::collection::btree_set(any_id(), 12);
    let picks = proptest::collection::vec(
        (
            proptest::collection::vec((any::<bool>(), any_status()), 12),
            1_usize..6,
            80_usize..900,
            any::<bool>(),
        ),
        1..7,
    );
    (ids, picks).prop_map(|(ids, picks)| {
        let wish = |(picked, entries, bytes, statuses): (Vec<(bool, _)>, usize, usize, bool)| {
            let chosen = ids.iter().zip(picked).filter(|(_, (wanted, _))| *wanted);
            let entries_of = chosen.map(|(id, (_, status))| {
                (id.clone(), Entry { status: if statuses { status } else { None } })
            });
            (entries_of.collect(), Limits { entries, bytes }, statuses)
        };
        picks.into_iter().map(wish).collect()
    })
}

#[test]
fn what_was_written_is_read_back_and_at_no_instant_less() {
    proptest!(ProptestConfig::with_cases(64), |(wishes in wishes())| {
        let mut server = Server::default();
        let mut inventory = new_inventory();
        for (target, limits, statuses) in wishes {
            let old = inventory.entries().clone();
            let options = WriteOptions { limits, statuses, ..WriteOptions::default() };
            for write in inventory.writes(&target, &options) {
                let (uid, version) = server.send(&write);
                inventory.wrote(&write, &uid, &version);
                for read in [server.read(&set("inv")), server.read_by_name(&set("inv"))] {
                    for id in read.entries().keys() {
                        prop_assert!(old.contains_key(id) || target.contains_key(id), "{:?} from nowhere", id);
                    }
                    for id in old.keys().filter(|id| target.contains_key(*id)) {
                        prop_assert!(read.entries().contains_key(id), "{:?} lost at {}", id, write);
                    }
                }
                // Between two writes a status may still be an older one; what is on record never differs.
                let read = server.read(&set("inv"));
                prop_assert!(read.entries().keys().eq(inventory.entries().keys()));
            }
            for read in [server.read(&set("inv")), server.read_by_name(&set("inv"))] {
                prop_assert_eq!(read.entries(), &target);
                prop_assert!(read.notes().is_empty());
            }
            // A part that had to give objects away can take some in the next round; then all is still.
            for round in 0.. {
                let more = inventory.writes(&target, &options);
                if more.is_empty() {
                    break;
                }
                prop_assert!(round < 3, "{:?}", more.iter().map(ToString::to_string).collect::<Vec<_>>());
                for write in more {
                    let (uid, version) = server.send(&write);
                    inventory.wrote(&write, &uid, &version);
                }
                let read = server.read(&set("inv"));
                prop_assert!(read.entries().keys().eq(target.keys()));
            }
            let read = server.read(&set("inv"));
            prop_assert_eq!(read.entries(), &target);
            for shard in inventory.shards() {
                prop_assert!(shard.entries <= limits.entries);
                let bytes = server.objects[shard.name]["data"].to_string().len();
                prop_assert!(bytes <= limits.bytes || shard.entries == 1, "{} bytes in {}", bytes, shard.name);
            }
        }
    });
}

#[test]
fn a_writer_that_dies_at_any_write_leaves_old_and_new_for_the_next() {
    proptest!(ProptestConfig::with_cases(64), |(wishes in wishes(), deaths in proptest::collection::vec(0_usize..5, 8))| {
        let mut server = Server::default();
        for ((target, limits, statuses), death) in wishes.into_iter().zip(deaths) {
            let mut inventory = server.read(&set("inv"));
            let old = inventory.entries().clone();
            let mut union = old.clone();
            union.extend(target.clone());
            let options = WriteOptions { limits, statuses, ..WriteOptions::default() };
            for write in inventory.writes(&union, &options).iter().take(death) {
                server.send(write);
            }
            inventory = server.read(&set("inv"));
            for id in old.keys() {
                prop_assert!(inventory.entries().contains_key(id), "{:?} lost", id);
            }
            for write in inventory.writes(&union, &options) {
                let (uid, version) = server.send(&write);
                inventory.wrote(&write, &uid, &version);
            }
            prop_assert!(server.read_by_name(&set("inv")).entries().keys().eq(union.keys()));
            for write in inventory.writes(&target, &options).iter().take(death) {
                server.send(write);
            }
            let left = server.read(&set("inv"));
            for id in target.keys() {
                prop_assert!(left.entries().contains_key(id), "{:?} lost", id);
            }
        }
    });
}
