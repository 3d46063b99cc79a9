//! Small controllers. Each looks at one object as it is, does what is due, and says when to look
//! again; so what they do depends on the store and the clock alone.

mod collect;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::json::{list, set, text};
use crate::store::{Look, Store};

/// Does everything that is due by `now`, each thing at its own time.
pub(crate) fn catch_up(store: &mut Store, now: Instant) {
    while let Some((at, look)) = store.agenda.pop(now) {
        store.now = store.now.max(at);
        look_at(store, &look);
    }
    store.now = store.now.max(now);
}

fn look_at(store: &mut Store, look: &Look) {
    if store.settings.collector {
        collect::look(store, look);
    }
}

/// Sets a condition given as type, status, reason, message. Its time changes with its status.
pub(crate) fn condition(object: &mut Value, now: &str, [kind, status, reason, message]: &[&str; 4]) {
    let mut conditions = list(object, &["status", "conditions"]).to_vec();
    let mut new = json!({ "type": kind, "status": status, "lastTransitionTime": now });
    for (field, value) in [("reason", reason), ("message", message)] {
        if !value.is_empty() {
            new[field] = (*value).into();
        }
    }
    match conditions.iter_mut().find(|known| text(known, &["type"]) == *kind) {
        Some(known) => {
            if text(known, &["status"]) == *status {
                new["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = new;
        }
        None => conditions.push(new),
    }
    set(object, &["status", "conditions"], conditions);
}
