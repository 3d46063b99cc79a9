use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = Box<str>> {
    "[a-z]{1,4}".prop_map(Box::from)
}

fn state() -> impl Strategy<Value = SavedState> {
    prop_oneof![
        Just(SavedState::Unknown),
        Just(SavedState::NotServed),
        Just(SavedState::Absent),
        (text(), "[0-9]{1,3}")
            .prop_map(|(uid, version)| SavedState::Present { uid, resource_version: version.into() }),
    ]
}

fn record() -> impl Strategy<Value = SavedRecord> {
    let part = (text(), text(), text()).prop_map(|(name, uid, resource_version)| SavedPart {
        name,
        uid,
        resource_version,
    });
    (text(), text(), text(), prop::collection::vec(part, 0..3))
        .prop_map(|(namespace, name, id, parts)| SavedRecord { namespace, name, id, parts })
}

fn object() -> impl Strategy<Value = SavedObject> {
    let action = prop_oneof![Just("apply"), Just("prune")];
    let decision = prop_oneof![Just("go"), Just("skip: kept")];
    (text(), action, decision, prop::option::of(text()), state()).prop_map(
        |(namespace, action, decision, manifest, live)| SavedObject {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace,
            name: "".into(),
            action: action.into(),
            decision: decision.into(),
            place: None,
            manifest,
            live,
        },
    )
}

fn plan() -> impl Strategy<Value = SavedPlan> {
    (prop::option::of(record()), prop::collection::vec(object(), 1..5)).prop_map(|(record, mut objects)| {
        for (at, object) in objects.iter_mut().enumerate() {
            object.name = format!("o{at}").into();
        }
        SavedPlan { version: VERSION, operation: "apply".into(), record, objects }
    })
}

/// Every single thing that can move, as a change to a plan.
const MOVES: &[fn(&mut SavedPlan, usize)] = &[
    |plan, _| plan.operation = "destroy".into(),
    |plan, _| match plan.record.take() {
        Some(_) => {}
        None => {
            plan.record =
                Some(SavedRecord { namespace: "n".into(), name: "r".into(), id: "i".into(), parts: vec![] });
        }
    },
    |plan, _| {
        if let Some(record) = &mut plan.record {
            record.id = format!("{}x", record.id).into();
        } else {
            plan.operation = "other".into();
        }
    },
    |plan, _| {
        if let Some(record) = &mut plan.record {
            let part = SavedPart { name: "new".into(), uid: "new".into(), resource_version: "new".into() };
            record.parts.push(part);
        } else {
            plan.operation = "other".into();
        }
    },
    |plan, at| drop(plan.objects.remove(at)),
    |plan, at| {
        let mut other = plan.objects[at].clone();
        other.name = "another".into();
        plan.objects.push(other);
    },
    |plan, at| plan.objects[at].manifest = Some("another".into()),
    |plan, at| {
        let manifest = &mut plan.objects[at].manifest;
        *manifest = if manifest.is_some() { None } else { Some("first".into()) };
    },
    |plan, at| plan.objects[at].action = "delete".into(),
    |plan, at| plan.objects[at].decision = "skip: another reason".into(),
    |plan, at| {
        plan.objects[at].live = match &plan.objects[at].live {
            SavedState::Present { .. } => SavedState::Absent,
            SavedState::Absent => SavedState::NotServed,
            SavedState::NotServed => SavedState::Unknown,
            SavedState::Unknown => SavedState::Absent,
        };
    },
    |plan, at| {
        plan.objects[at].live = match &plan.objects[at].live {
            SavedState::Present { uid, resource_version } => SavedState::Present {
                uid: uid.clone(),
                resource_version: format!("{resource_version}0").into(),
            },
            _ => SavedState::Present { uid: "u".into(), resource_version: "1".into() },
        };
    },
    |plan, at| {
        plan.objects[at].live = SavedState::Present { uid: "another".into(), resource_version: "1".into() };
    },
];

proptest! {
    #[test]
    fn any_single_thing_that_moved_is_told(plan in plan(), at in 0_usize..5, moved in 0..MOVES.len()) {
        let mut now = plan.clone();
        MOVES[moved](&mut now, at % plan.objects.len());
        prop_assert!(now != plan, "the move {moved} moves nothing");
        let told = plan.moved(&now);
        prop_assert_eq!(told.len(), 1, "{:?}", told);
        prop_assert_eq!(now.moved(&plan).len(), 1);
    }

    #[test]
    fn a_plan_holds_to_itself_and_survives_its_file(plan in plan()) {
        prop_assert_eq!(plan.moved(&plan), vec![]);
        let text = serde_json::to_string(&plan).unwrap();
        let back: SavedPlan = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back, plan);
    }
}

#[test]
fn where_a_manifest_stands_is_no_difference() {
    let object = SavedObject {
        group: "apps".into(),
        kind: "Deployment".into(),
        namespace: "shop".into(),
        name: "web".into(),
        action: "apply".into(),
        decision: "go".into(),
        place: Some("web.yaml:3".into()),
        manifest: Some("ab".into()),
        live: SavedState::Absent,
    };
    let plan = SavedPlan { version: VERSION, operation: "apply".into(), record: None, objects: vec![object] };
    let mut now = plan.clone();
    now.objects[0].place = Some("elsewhere/web.yaml:1".into());
    assert_eq!(plan.moved(&now), vec![]);
    now.objects[0].manifest = Some("cd".into());
    let told: Vec<_> = plan.moved(&now).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["deployment.apps/web in shop has another manifest (elsewhere/web.yaml:1)"]);
}

#[test]
fn what_lives_in_a_namespace_of_the_plan_is_not_pinned() {
    let object = |kind: &str, namespace: &str, name: &str, live| SavedObject {
        group: "".into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
        action: "apply".into(),
        decision: "go".into(),
        place: None,
        manifest: None,
        live,
    };
    let there = SavedState::Present { uid: "u1".into(), resource_version: "7".into() };
    let objects = vec![
        object("Namespace", "", "new", SavedState::Absent),
        object("ServiceAccount", "new", "default", SavedState::Absent),
        object("ConfigMap", "old", "a", SavedState::Absent),
        object("ConfigMap", "old", "b", there),
        object("Widget", "old", "c", SavedState::NotServed),
    ];
    let plan = SavedPlan { version: VERSION, operation: "apply".into(), record: None, objects };
    let pins = plan.pins();
    let pin = |name: &str| pins.iter().find(|(id, _)| id.name() == name).map(|(_, pin)| pin.clone());
    assert_eq!(pin("new"), Some(Pin::Absent));
    assert_eq!(pin("default"), None);
    assert_eq!(pin("a"), Some(Pin::Absent));
    assert_eq!(pin("b"), Some(Pin::Uid("u1".into())));
    assert_eq!(pin("c"), None);
}
