//! Lists taken apart.

use serde_json::{Map, Value};

/// Lists within lists; nobody writes more than two.
const MAX_NESTING: usize = 8;

/// What a list gives to items that do not say it themselves.
#[derive(Clone)]
struct Inherited {
    api_version: Value,
    kind: Option<Value>,
}

/// An object, or what is wrong with the list that should hold some, and the positions in the (nested)
/// lists that lead to it.
pub(super) type Item = (Vec<usize>, Result<Value, &'static str>);

/// The value itself, or the objects in it when it is a list.
pub(super) fn flatten(value: Value) -> Vec<Item> {
    let mut items = Vec::new();
    take_apart(value, None, &mut Vec::new(), &mut items);
    items
}

fn take_apart(value: Value, inherited: Option<&Inherited>, at: &mut Vec<usize>, found: &mut Vec<Item>) {
    let Value::Object(mut map) = value else {
        return found.push((at.clone(), Ok(value)));
    };
    if let Some(inherited) = inherited {
        inherit(&mut map, inherited);
    }
    let Some(inherited) = list_of(&map) else {
        return found.push((at.clone(), Ok(Value::Object(map))));
    };
    if at.len() >= MAX_NESTING {
        return found.push((at.clone(), Err("lists are nested too deeply")));
    }
    match map.remove("items") {
        Some(Value::Array(items)) => {
            for (index, item) in items.into_iter().enumerate() {
                at.push(index);
                take_apart(item, Some(&inherited), at, found);
                at.pop();
            }
        }
        Some(Value::Null) => {}
        Some(_) => found.push((at.clone(), Err("items must be a list"))),
        None => found.push((at.clone(), Err("a List without items"))),
    }
}

/// What the items of this list inherit; `None` when it is no list. Some custom kinds end in `List`
/// without being one: these have a name.
fn list_of(map: &Map<String, Value>) -> Option<Inherited> {
    let item_kind = map.get("kind")?.as_str()?.strip_suffix("List")?;
    let has_name = map.get("metadata").and_then(|metadata| metadata.get("name")).is_some();
    let has_items = matches!(map.get("items"), Some(Value::Array(_) | Value::Null));
    let kind = (!item_kind.is_empty()).then(|| Value::from(item_kind));
    let is_list = !has_name && (has_items || kind.is_none());
    is_list.then(|| Inherited { api_version: map.get("apiVersion").cloned().unwrap_or_default(), kind })
}

fn inherit(map: &mut Map<String, Value>, from: &Inherited) {
    // An item of kind List may hold anything, so there is nothing to inherit from it.
    if let Some(kind) = &from.kind {
        if !map.contains_key("kind") {
            map.insert("kind".to_owned(), kind.clone());
        }
        if !map.contains_key("apiVersion") && map.get("kind") == Some(kind) {
            map.insert("apiVersion".to_owned(), from.api_version.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_of_all_sorts() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod"});
        let role = json!({"apiVersion": "rbac/v1", "kind": "Role", "x": 1});
        let roles = json!({"apiVersion": "rbac/v1", "kind": "RoleList", "items": [{"x": 1}, {"kind": "Role", "x": 1}]});
        let cases = [
            (pod.clone(), vec![(vec![], Ok(pod.clone()))]),
            (json!("x"), vec![(vec![], Ok(json!("x")))]),
            (json!({"kind": "List", "items": []}), vec![]),
            (json!({"kind": "List", "items": null}), vec![]),
            (json!({"kind": "List"}), vec![(vec![], Err("a List without items"))]),
            (json!({"kind": "List", "items": {}}), vec![(vec![], Err("items must be a list"))]),
            (
                json!({"kind": "List", "items": [pod, 3]}),
                vec![(vec![0], Ok(pod.clone())), (vec![1], Ok(json!(3)))],
            ),
            (json!({"kind": "List", "items": [{"x": 1}]}), vec![(vec![0], Ok(json!({"x": 1})))]),
            (roles.clone(), vec![(vec![0], Ok(role.clone())), (vec![1], Ok(role.clone()))]),
            (
                json!({"kind": "List", "items": [pod, roles]}),
                vec![
                    (vec![0], Ok(pod.clone())),
                    (vec![1, 0], Ok(role.clone())),
                    (vec![1, 1], Ok(role.clone())),
                ],
            ),
            (
                json!({"apiVersion": "v1", "kind": "PodList", "items": [{"kind": "Other"}]}),
                vec![(vec![0], Ok(json!({"kind": "Other"})))],
            ),
        ];
        for (value, wanted) in cases {
            assert_eq!(flatten(value.clone()), wanted, "{value}");
        }
    }

    #[test]
    fn a_kind_that_only_sounds_like_a_list_stays_whole() {
        for value in [
            json!({"kind": "AllowList", "metadata": {"name": "a"}, "items": [1]}),
            json!({"kind": "AllowList", "metadata": {"name": "a"}, "spec": {}}),
            json!({"kind": "AllowList", "items": "x"}),
        ] {
            assert_eq!(flatten(value.clone()), [(vec![], Ok(value))]);
        }
    }

    #[test]
    fn nesting_ends() {
        let mut value = json!({"kind": "List", "items": []});
        for _ in 0..20 {
            value = json!({"kind": "List", "items": [value]});
        }
        assert_eq!(flatten(value), [(vec![0; MAX_NESTING], Err("lists are nested too deeply"))]);
    }
}
