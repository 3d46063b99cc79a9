use proptest::prelude::*;

use super::super::{Location, check_id, set_id, set_location, set_of_id, template};

#[test]
fn a_name_is_refused_with_the_rule_that_it_breaks() {
    let long = "n".repeat(254);
    for (namespace, name, refused) in [
        ("default", "shop", None),
        ("default", "shop.prod-2", None),
        ("default", "0", None),
        ("default", "", Some("set name")),
        ("default", "Shop", Some("set name")),
        ("default", "shop_prod", Some("set name")),
        ("default", "-shop", Some("set name")),
        ("default", "shop-", Some("set name")),
        ("default", "shop..prod", Some("set name")),
        ("default", "shop/prod", Some("set name")),
        ("default", &long, Some("set name")),
        ("", "shop", Some("namespace")),
        ("a.b", "shop", Some("namespace")),
        (&long[..64], "shop", Some("namespace")),
    ] {
        let answer = set_location(namespace, name).map_err(|error| error.to_string());
        match refused {
            None => assert!(answer.is_ok(), "{namespace}/{name}"),
            Some(what) => assert!(answer.unwrap_err().starts_with(what), "{namespace}/{name}"),
        }
    }
    assert_eq!(
        set_location("default", "Shop").unwrap_err().to_string(),
        "set name \"Shop\" cannot be used: it must be 1 to 253 lower-case letters, digits, '-' and '.', \
         with a letter or digit at both ends and beside every '.' (such as shop or shop.prod)"
    );
}

#[test]
fn an_id_of_one_or_two_characters_is_as_good_as_any() {
    for (id, valid) in [
        ("a", true),
        ("ab", true),
        ("A-_.9", true),
        ("7f9c24e8-3b12-4fef-91e0-56a2d5b6a0a1", true),
        ("", false),
        ("-a", false),
        ("a.", false),
        ("a b", false),
        (&"a".repeat(63), true),
        (&"a".repeat(64), false),
    ] {
        assert_eq!(check_id(id).is_ok(), valid, "{id:?}");
    }
}

#[test]
fn the_id_of_a_set_names_the_set_as_long_as_a_label_can_hold_it() {
    assert_eq!(set_id(&Location::new("default", "shop.prod")), "default_shop.prod");
    let long = set_id(&Location::new("default", &"shop-".repeat(20)));
    assert_eq!(long, "default_shop-shop-shop-shop-s__4fcf73f61b80eb339d1c2d5647957582");
    assert_eq!(set_of_id("default_shop.prod"), Some(Location::new("default", "shop.prod")));
    for foreign in ["7f9c24e8-3b12", "a_b_c", "A_b", &long] {
        assert_eq!(set_of_id(foreign), None, "{foreign}");
    }
}

#[test]
fn every_set_has_an_id_of_its_own_that_a_label_can_hold() {
    let namespace = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
    let name = "[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?){0,4}";
    proptest!(|(a in (namespace, name), b in (namespace, name))| {
        let set = |(namespace, name): &(String, String)| set_location(namespace, name).unwrap();
        let (first, second) = (set_id(&set(&a)), set_id(&set(&b)));
        prop_assert!(check_id(&first).is_ok(), "{}", first);
        prop_assert_eq!(&first, &set_id(&set(&a)));
        prop_assert_eq!(a == b, first == second);
        if let Some(found) = set_of_id(&first) {
            prop_assert_eq!(found, set(&a));
        }
    });
}

#[test]
fn the_template_is_the_config_map_that_kapply_init_writes() {
    let text = template("shop", 7_654_321, "my-id", "2026-11-30 18:00:00 UTC").unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    assert_eq!(
        lines,
        [
            "apiVersion: v1",
            "kind: ConfigMap",
            "metadata:",
            "  namespace: shop",
            "  name: inventory-07654321",
            "  labels:",
            "    cli-utils.sigs.k8s.io/inventory-id: my-id",
        ]
    );
    assert!(text.contains("on 2026-11-30 18:00:00 UTC."));
    assert!(text.ends_with("my-id\n") && !text.contains('<'));
    assert!(template("shop", 123_456_789, "x", "").unwrap().contains("name: inventory-23456789\n"));
    assert!(template("shop", 1, "my id", "").is_err());
}
