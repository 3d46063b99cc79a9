use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::super::Location;
use super::super::lease::{Decision, Holder, LASTS, Lease, Renewal, lease_name};

fn set() -> Location {
    Location::new("shop", "inv")
}

fn me() -> Holder {
    Holder::new("alice", "ci-3", 4711, "9f2c")
}

fn at(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_061_600 + second)
}

/// A Lease of ours as the server has it: held from second 0, last renewed at `renewed`.
fn stored(holder: Option<&str>, renewed: &str) -> Value {
    let mut lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "name": "kubesettle-inv", "namespace": "shop", "uid": "u", "resourceVersion": "5",
            "labels": { "app.kubernetes.io/managed-by": "kubesettle" },
        },
        "spec": {
            "leaseDurationSeconds": 30, "leaseTransitions": 3,
            "acquireTime": "2026-11-30T18:00:00.000000Z", "renewTime": renewed,
        },
    });
    if let Some(holder) = holder {
        lease["spec"]["holderIdentity"] = holder.into();
    }
    lease
}

fn parse(lease: &Value) -> Lease {
    Lease::parse(lease.to_string().as_bytes()).unwrap()
}

fn decide(lease: &Value, now: SystemTime, unchanged: u64) -> Decision {
    Lease::decide(Some(&parse(lease)), &set(), &me(), now, Duration::from_secs(unchanged))
}

#[test]
fn a_set_without_a_lease_gets_one_with_the_holder_as_a_person_reads_it() {
    let decision = Lease::decide(None, &set(), &me(), at(0), Duration::ZERO);
    let Decision::Create(body) = decision else { panic!("{decision:?}") };
    assert_eq!(
        std::str::from_utf8(&body).unwrap(),
        r#"{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"labels":{"app.kubernetes.io/managed-by":"kubesettle"},"name":"kubesettle-inv","namespace":"shop"},"spec":{"acquireTime":"2026-11-30T18:00:00.000000Z","holderIdentity":"alice@ci-3 (pid 4711, run 9f2c)","leaseDurationSeconds":30,"leaseTransitions":0,"renewTime":"2026-11-30T18:00:00.000000Z"}}"#
    );
}

/// Holder, second of its last sign of life, now, unchanged for; who must be waited for or is relieved.
#[test]
fn a_lock_is_free_when_given_back_or_quiet_for_as_long_as_it_lasts() {
    let bob = Some("bob@ci-4 (pid 1, run aa)");
    let cases = [
        (None, 0, 1, 0, "take"),
        (Some(""), 0, 1, 0, "take"),
        (Some("alice@ci-3 (pid 4711, run 9f2c)"), 0, 1, 0, "take"),
        (bob, 10, 15, 0, "wait"),
        (bob, 10, 39, 0, "wait"),
        (bob, 10, 40, 0, "take over"),
        // The holder's clock is ahead: only our own watch counts.
        (bob, 59, 30, 29, "wait"),
        (bob, 59, 30, 30, "take over"),
    ];
    for (holder, renewed, now, unchanged, expected) in cases {
        let lease = stored(holder, &format!("2026-11-30T18:00:{renewed:02}.000000Z"));
        let decision = match decide(&lease, at(now), unchanged) {
            Decision::Take { expired: None, .. } => "take",
            Decision::Take { expired: Some(held), .. } if Some(&*held.holder) == bob => "take over",
            Decision::Wait(held) if Some(&*held.holder) == bob => "wait",
            other => panic!("{other:?}"),
        };
        assert_eq!(decision, expected, "{holder:?} {renewed} {now} {unchanged}");
    }
}

#[test]
fn a_lock_taken_over_counts_the_change_of_hands_and_replaces_only_what_was_read() {
    let decision = decide(&stored(Some("bob"), "2026-11-30T18:00:00.000000Z"), at(100), 0);
    let Decision::Take { body, .. } = decision else { panic!("{decision:?}") };
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["metadata"]["uid"], "u");
    assert_eq!(body["metadata"]["resourceVersion"], "5");
    assert_eq!(body["spec"]["leaseTransitions"], 4);
    assert_eq!(body["spec"]["acquireTime"], "2026-11-30T18:01:40.000000Z");
    assert_eq!(body["spec"]["holderIdentity"], me().as_str());
}

#[test]
fn a_waiting_run_says_who_holds_the_lock_and_when_it_is_free() {
    let Decision::Wait(held) = decide(&stored(Some("bob"), "2026-11-30T18:01:31.000000Z"), at(95), 0) else {
        panic!()
    };
    assert_eq!(
        held.to_string(),
        "bob has held it for 95 s, last sign of life 4 s ago (free after 30 s without one)"
    );
}

#[test]
fn a_lease_that_is_not_ours_is_left_alone() {
    let mut lease = stored(None, "2026-11-30T18:00:00.000000Z");
    lease["metadata"]["labels"] = json!({ "app": "inv" });
    assert_eq!(decide(&lease, at(1_000), 1_000), Decision::NotOurs);
}

#[test]
fn a_holder_renews_until_somebody_else_has_it_or_it_is_gone() {
    let mine = parse(&stored(Some(me().as_str()), "2026-11-30T18:00:00.000000Z"));
    let Renewal::Renew(body) = mine.renew(&me(), at(12)) else { panic!() };
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["spec"]["acquireTime"], "2026-11-30T18:00:00.000000Z");
    assert_eq!(body["spec"]["renewTime"], "2026-11-30T18:00:12.000000Z");
    assert_eq!(body["spec"]["leaseTransitions"], 3);

    let theirs = parse(&stored(Some("bob"), "2026-11-30T18:00:00.000000Z"));
    assert!(matches!(theirs.renew(&me(), at(12)), Renewal::Lost(Some(held)) if &*held.holder == "bob"));
    let free = parse(&stored(None, "2026-11-30T18:00:00.000000Z"));
    assert_eq!(free.renew(&me(), at(12)), Renewal::Lost(None));
}

#[test]
fn only_the_holder_gives_the_lock_back() {
    let mine = parse(&stored(Some(me().as_str()), "2026-11-30T18:00:00.000000Z"));
    let body: Value = serde_json::from_slice(&mine.release(&me()).unwrap()).unwrap();
    assert_eq!(body["spec"], json!({ "leaseDurationSeconds": 1, "leaseTransitions": 3 }));
    let theirs = parse(&stored(Some("bob"), "2026-11-30T18:00:00.000000Z"));
    assert_eq!(theirs.release(&me()), None);
}

#[test]
fn a_lease_that_cannot_be_read_says_why() {
    assert_eq!(Lease::parse(b"{}").unwrap_err(), "/metadata/namespace is missing");
    let lease = stored(None, "yesterday");
    assert!(Lease::parse(lease.to_string().as_bytes()).unwrap_err().starts_with("/spec/renewTime: "));
    let mut old = stored(Some("bob"), "");
    old["spec"] = json!({ "holderIdentity": "bob" });
    let Decision::Wait(held) = decide(&old, at(0), 0) else { panic!() };
    assert_eq!((held.held, held.quiet, held.lasts), (None, None, LASTS));
    assert_eq!(held.to_string(), "bob holds it (free after 30 s without one)");
}

#[test]
fn the_lease_of_the_longest_set_name_has_a_valid_name() {
    assert_eq!(lease_name(&set()), "kubesettle-inv");
    let [a, b] =
        ["a", "b"].map(|end| lease_name(&Location::new("shop", &format!("{}{end}", "n".repeat(252)))));
    assert!(a.len() <= 253 && b.len() <= 253 && a != b, "{a}");
}
