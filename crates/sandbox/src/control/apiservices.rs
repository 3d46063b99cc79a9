//! APIServices: available when the Service behind them is there.

use std::time::Duration;

use super::act::set_status;
use super::condition;
use crate::json::{at, text};
use crate::store::{Key, Store};

const ID: &str = "apiservices.apiregistration.k8s.io";
/// How often the Service is looked for.
const AGAIN: Duration = Duration::from_secs(2);

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(api) = store.value(ID, key) else { return };
    let service = at(&api, &["spec", "service"]);
    let (namespace, name) = (text(service, &["namespace"]), text(service, &["name"]));
    let missing = format!("service/{name} in \"{namespace}\" is not present");
    let (status, reason, message) = if service.is_null() {
        ("True", "Local", "Local APIServices are always available")
    } else {
        let again = store.now + AGAIN;
        store.look_at(again, ID, key);
        match store.get("services", &Key::new(namespace, name)) {
            Some(_) => ("True", "Passed", "all checks passed"),
            None => ("False", "ServiceNotFound", &*missing),
        }
    };
    let now = store.stamp();
    set_status(store, ID, key, "kube-apiserver", |api| {
        condition(api, &now, &["Available", status, reason, message])
    });
}
