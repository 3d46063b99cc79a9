//! What is in a Secret is nobody's business here.

use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::watch::{Presence, Update};

use crate::world::{World, subscribe};
use crate::{alone, live};

const CANARY: &str = "Y2FuYXJ5LWluLWEtY29hbC1taW5l";

#[tokio::test(start_paused = true)]
async fn contents_of_secrets_and_config_maps_are_not_asked_for_and_not_kept_when_they_come() {
    const LENGTH: usize = 100_000;
    let _alone = alone();
    for (kind, plural) in [("Secret", "secrets"), ("ConfigMap", "configmaps")] {
        let world = World::new();
        // A server that sends all of it, whatever was accepted.
        world.fill(plural, 20, move |number| {
            let (data, filler) = (CANARY, "A".repeat(LENGTH));
            format!(
                r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"s-{number}","namespace":"n","uid":"u-{number}","resourceVersion":"1","annotations":{{"other":"{data}"}},"labels":{{"l":"{data}"}},"managedFields":[{{"manager":"{data}","fieldsV1":{{"f:{data}":{{}},"f:{filler}":{{}}}}}}]}},"data":{{"{data}":"{data}","filler":"{filler}"}}}}"#
            )
        });
        let hub = world.hub().await;
        let before = live();
        let target = |number| ObjectId::new(GroupKind::new("", kind), "n", &format!("s-{number}"));
        let mut view = subscribe(&hub, (0..10).map(target)).await;
        let mut present = 0;
        loop {
            let update = view.next().await.unwrap();
            let said = format!("{update:?} {hub:?} {view:?}");
            assert!(!said.contains(CANARY), "{said}");
            match update {
                Update::Synced => break,
                Update::Gap(gap) => panic!("{gap:?}"),
                Update::Changed(states) => {
                    present +=
                        states.iter().filter(|(_, s)| matches!(s.presence, Presence::Present(_))).count();
                }
            }
        }
        assert_eq!(present, 10);
        let kept = live().saturating_sub(before);
        assert!(kept < LENGTH / 2, "{kept} B");
        let accepts = world.accepts();
        let metadata = |accept: &String| accept.starts_with("application/json;as=PartialObjectMetadata");
        assert!(!accepts.is_empty() && accepts.iter().all(metadata), "{accepts:?}");
    }
}
