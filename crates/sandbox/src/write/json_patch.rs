//! JSON patch (RFC 6902), as much of it as clients of this API send: test, add, replace, remove.

use serde_json::Value;

use crate::failure::Failure;

/// The object after all operations; the first that fails fails the whole.
pub(super) fn apply(live: &Value, patch: &Value) -> Result<Value, Failure> {
    let mut new = live.clone();
    for step in patch.as_array().into_iter().flatten() {
        let text = |key: &str| step[key].as_str().unwrap_or_default();
        let (op, path) = (text("op"), text("path"));
        let refused = |why: &str| {
            let message =
                format!("the server rejected our request due to an error in our request: {op} {path}: {why}");
            Failure::new(422, "Invalid", message)
        };
        let (parent, key) = path.rsplit_once('/').ok_or_else(|| refused("no path"))?;
        let key = key.replace("~1", "/").replace("~0", "~");
        match op {
            "test" => {
                if new.pointer(path) != Some(&step["value"]) {
                    return Err(refused("testing value failed"));
                }
            }
            "add" | "replace" | "remove" => {
                let map = new.pointer_mut(parent).and_then(Value::as_object_mut);
                let map = map.ok_or_else(|| refused("missing path"))?;
                if op != "add" && !map.contains_key(&key) {
                    return Err(refused("missing value"));
                }
                if op == "remove" {
                    map.remove(&key);
                } else {
                    map.insert(key, step["value"].clone());
                }
            }
            _ => return Err(refused("unknown operation")),
        }
    }
    Ok(new)
}
