//! Shapes of custom resources, from the schema in their CRD.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Shape, metadata};
use crate::json::{list, text};

/// From `spec.versions[].schema.openAPIV3Schema`.
pub(crate) fn custom(schema: &Value) -> Arc<Shape> {
    let mut shape = shape(schema);
    if let Shape::Struct { fields, .. } = &mut shape {
        fields.insert("metadata".to_owned(), metadata());
        for name in ["apiVersion", "kind"] {
            fields.insert(name.to_owned(), Arc::new(Shape::Text));
        }
    }
    Arc::new(shape)
}

fn shape(schema: &Value) -> Shape {
    let flag = |name: &str| schema[name].as_bool().unwrap_or(false);
    if flag("x-kubernetes-int-or-string") {
        return Shape::IntOrText;
    }
    match text(schema, &["type"]) {
        "string" => Shape::Text,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "boolean" => Shape::Bool,
        "array" => array(schema),
        "object" => object(schema, flag("x-kubernetes-preserve-unknown-fields")),
        _ => Shape::Any,
    }
}

fn array(schema: &Value) -> Shape {
    let item = Arc::new(shape(&schema["items"]));
    match text(schema, &["x-kubernetes-list-type"]) {
        "set" => Shape::Set,
        "map" => {
            let mut names: Vec<&str> =
                list(schema, &["x-kubernetes-list-map-keys"]).iter().filter_map(Value::as_str).collect();
            names.sort_unstable();
            let default = |name: &str| {
                let default = &schema["items"]["properties"][name]["default"];
                (!default.is_null()).then(|| default.clone())
            };
            let keys = names.into_iter().map(|name| (name.to_owned(), default(name))).collect();
            Shape::Keyed { item, keys }
        }
        _ => Shape::List(item),
    }
}

fn object(schema: &Value, open: bool) -> Shape {
    let atomic = text(schema, &["x-kubernetes-map-type"]) == "atomic";
    let additional = &schema["additionalProperties"];
    if additional.is_object() {
        return Shape::Map { value: Arc::new(shape(additional)), atomic };
    }
    let Some(properties) = schema["properties"].as_object() else {
        let open = open || additional.as_bool() == Some(true);
        return Shape::Struct { fields: BTreeMap::new(), open, atomic };
    };
    let fields = properties.iter().map(|(name, schema)| (name.clone(), Arc::new(shape(schema)))).collect();
    Shape::Struct { fields, open, atomic }
}
