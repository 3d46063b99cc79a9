use super::super::{GuardRefusal, Holds, ProtectedKind, PruneCandidate, PruneGuard, PruneMax};
use super::*;

fn candidates(count: usize) -> Vec<PruneCandidate> {
    (0..count).map(|nth| PruneCandidate { id: cm(&nth.to_string()), holds: Holds::OnlyOurs }).collect()
}

fn check(max: PruneMax, count: usize, total: usize) -> Result<(), GuardRefusal> {
    PruneGuard { max, allow: Vec::new() }.check(&candidates(count), total)
}

/// Limit, candidates, size of the set, allowed.
#[test]
fn a_run_prunes_no_more_than_the_limit() {
    let cases = [
        (PruneMax::Default, 0, 0, true),
        (PruneMax::Default, 10, 10, true),
        (PruneMax::Default, 11, 11, false),
        (PruneMax::Default, 11, 21, false),
        (PruneMax::Default, 11, 22, true),
        (PruneMax::Default, 500, 1_000, true),
        (PruneMax::Default, 501, 1_000, false),
        (PruneMax::Count(0), 0, 5, true),
        (PruneMax::Count(0), 1, 5, false),
        (PruneMax::Count(20), 20, 20, true),
        (PruneMax::Count(20), 21, 1_000, false),
        (PruneMax::Percent(10), 1, 10, true),
        (PruneMax::Percent(10), 1, 9, false),
        (PruneMax::Percent(100), 500, 500, true),
        (PruneMax::Percent(0), 1, 500, false),
        (PruneMax::All, 500, 500, true),
    ];
    for (max, count, total, allowed) in cases {
        assert_eq!(check(max, count, total).is_ok(), allowed, "{max}: {count} of {total}");
    }
}

#[test]
fn a_refusal_says_how_many_and_how_to_allow_them() {
    assert_eq!(
        check(PruneMax::Default, 40, 50).unwrap_err().to_string(),
        "refused to prune 40 of 50 objects (limit: 50 % when more than 10): \
         if they are really to go, repeat with --prune-max 40"
    );
}

#[test]
fn kinds_that_take_others_along_need_a_permission_of_their_own() {
    let holds = [
        Holds::Foreign("3 objects of others, such as pod/db-0".into()),
        Holds::Unknown("no right to list pods".into()),
        Holds::OnlyOurs,
    ];
    let kinds = [
        ("", "Namespace"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("", "PersistentVolume"),
        ("", "PersistentVolumeClaim"),
        ("apps", "Deployment"),
        ("example.com", "Namespace"),
    ];
    for (nth, (group, kind)) in kinds.into_iter().enumerate() {
        for holds in &holds {
            let candidate = PruneCandidate { id: id(group, kind, "", "x"), holds: holds.clone() };
            let refused = PruneGuard::default().check(std::slice::from_ref(&candidate), 1).is_err();
            assert_eq!(refused, nth < 4 && *holds != Holds::OnlyOurs, "{kind} {holds:?}");
            if let Some(kind) = ProtectedKind::of(candidate.id.group_kind()) {
                let guard = PruneGuard { allow: vec![kind], ..PruneGuard::default() };
                assert_eq!(guard.check(&[candidate], 1), Ok(()));
            }
        }
    }
}

#[test]
fn everything_that_speaks_against_a_prune_is_said_at_once() {
    let mut all = candidates(11);
    all.push(PruneCandidate {
        id: id("", "Namespace", "", "team"),
        holds: Holds::Foreign("pod/db-0".into()),
    });
    all.push(PruneCandidate {
        id: id("", "PersistentVolumeClaim", "shop", "data"),
        holds: Holds::Unknown("no right to list pods".into()),
    });
    assert_eq!(
        PruneGuard::default().check(&all, 13).unwrap_err().to_string(),
        "refused to prune 13 of 13 objects (limit: 50 % when more than 10): if they are really to go, repeat with --prune-max 13
refused to prune namespace/team: it holds pod/db-0; to delete it all the same, repeat with --prune-allow Namespace
refused to prune persistentvolumeclaim/data in shop: what it holds is not known (no right to list pods); to delete it all the same, repeat with --prune-allow PersistentVolumeClaim"
    );
}

#[test]
fn limits_are_numbers_or_percentages() {
    for (text, expected) in [
        ("0", Some(PruneMax::Count(0))),
        ("20", Some(PruneMax::Count(20))),
        ("80%", Some(PruneMax::Percent(80))),
        ("100%", Some(PruneMax::Percent(100))),
        ("101%", None),
        ("-1", None),
        ("", None),
        ("%", None),
        ("half", None),
    ] {
        assert_eq!(PruneMax::parse(text).ok(), expected, "{text}");
    }
    assert_eq!(
        PruneMax::parse("half").unwrap_err().to_string(),
        "\"half\" is no prune limit: give a number of objects (20) or a part of the set (80%)"
    );
}

#[test]
fn protected_kinds_are_read_as_kubectl_reads_kinds() {
    for text in ["Namespace", "namespace", "namespaces", "ns"] {
        assert_eq!(ProtectedKind::parse(text), Ok(ProtectedKind::Namespace), "{text}");
    }
    for text in ["crd", "crds", "customresourcedefinitions", "CustomResourceDefinition"] {
        assert_eq!(ProtectedKind::parse(text), Ok(ProtectedKind::CustomResourceDefinition), "{text}");
    }
    assert_eq!(ProtectedKind::parse("pv").map(ProtectedKind::as_str), Ok("PersistentVolume"));
    assert_eq!(ProtectedKind::parse("pvc").map(ProtectedKind::as_str), Ok("PersistentVolumeClaim"));
    assert!(ProtectedKind::parse("Deployment").unwrap_err().to_string().contains("is no protected kind"));
}
