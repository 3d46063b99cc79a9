//! The object that a request carries.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Write;
use crate::ask::Target;
use crate::failure::{Failure, form_of_kind};
use crate::json::text;

/// The body of an apply, and warnings about it.
pub(super) fn applied(write: &Write<'_>) -> Result<(Value, Vec<String>), Failure> {
    let (value, doubled) = parse(&write.ask.body).map_err(|error| {
        Failure::bad_request(format!("error decoding YAML: error converting YAML to JSON: yaml: {error}"))
    })?;
    let strict = write.ask.query.get("fieldValidation") == "Strict";
    if strict && !doubled.is_empty() {
        let errors: String = doubled.iter().map(|error| format!("\n  {error}")).collect();
        return Err(Failure::bad_request(format!(
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:{errors}"
        )));
    }
    let silent = write.ask.query.get("fieldValidation") == "Ignore";
    Ok((value, if silent { Vec::new() } else { doubled }))
}

/// The body of a POST or PUT: fields that the kind does not know are refused, or dropped with a warning.
pub(super) fn object(write: &Write<'_>) -> Result<(Value, Vec<String>), Failure> {
    if !matches!(write.ask.media_type(), "application/json" | "") {
        return Err(Failure::new(415, "UnsupportedMediaType", super::FORMATS));
    }
    let (mut value, mut problems) =
        parse(&write.ask.body).map_err(|error| Failure::bad_request(error.to_string()))?;
    for error in super::schema::check(&value, &write.kind.shape) {
        match error.split_once(": field not declared in schema") {
            Some((path, _)) => problems.push(format!("unknown field \"{}\"", path.trim_start_matches('.'))),
            None => {
                let message = format!(
                    "{} in version \"{}\" cannot be handled as a {0}: json: cannot unmarshal {error}",
                    write.kind.kind, write.target.version
                );
                return Err(Failure::bad_request(message));
            }
        }
    }
    let strict = write.ask.query.get("fieldValidation") == "Strict";
    if strict && !problems.is_empty() {
        let said: Vec<String> =
            problems.iter().map(|problem| format!("strict decoding error: {problem}")).collect();
        let message = format!(
            "{} in version \"{}\" cannot be handled as a {0}: {}",
            write.kind.kind,
            write.target.version,
            said.join(", ")
        );
        return Err(Failure::bad_request(message));
    }
    prune(&mut value, &write.kind.shape);
    let silent = write.ask.query.get("fieldValidation") == "Ignore";
    crate::json::drop_nulls(&mut value);
    Ok((value, if silent { Vec::new() } else { problems }))
}

/// Takes away the fields of the top that a kind does not have.
fn prune(value: &mut Value, shape: &super::schema::Shape) {
    if let (Value::Object(map), super::schema::Shape::Struct { fields, open: false, .. }) = (value, shape) {
        map.retain(|name, _| fields.contains_key(name));
        for (name, value) in map {
            prune(value, shape.field(name));
        }
    }
}

/// The body of a merge patch.
pub(super) fn patch(write: &Write<'_>) -> Result<Value, Failure> {
    let (value, _) = parse(&write.ask.body).map_err(|error| Failure::bad_request(error.to_string()))?;
    if value.is_object() {
        return Ok(value);
    }
    Err(Failure::bad_request("json: cannot unmarshal into Go value of type map[string]interface {}"))
}

/// Kind, name and namespace of the body must be those of the path.
pub(super) fn identity(write: &Write<'_>, value: &Value, target: &Target) -> Result<(), Failure> {
    let (api_version, kind) = (text(value, &["apiVersion"]), text(value, &["kind"]));
    let wanted = write.kind.api_version(&target.version);
    if (!kind.is_empty() && *kind != *write.kind.kind) || (!api_version.is_empty() && api_version != wanted) {
        return Err(Failure::bad_request(format!(
            "invalid object type: {}",
            form_of_kind(api_version, kind)
        )));
    }
    let name = text(value, &["metadata", "name"]);
    if !name.is_empty() && name != target.name {
        let message =
            format!("the name of the object ({name}) does not match the name on the URL ({})", target.name);
        return Err(Failure::bad_request(message));
    }
    let namespace = text(value, &["metadata", "namespace"]);
    if !namespace.is_empty() && namespace != target.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// A JSON tree, and what it says about keys that occur twice.
pub(super) fn parse(body: &[u8]) -> serde_json::Result<(Value, Vec<String>)> {
    let mut doubled = Vec::new();
    let mut from = serde_json::Deserializer::from_slice(body);
    let value = Seed(&mut doubled).deserialize(&mut from)?;
    from.end()?;
    Ok((value, doubled))
}

struct Seed<'a>(&'a mut Vec<String>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Seed(self.0))? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Seed(self.0))?;
            if map.contains_key(&name) {
                self.0.push(format!("line 1: key \"{name}\" already set in map"));
            }
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_keys_are_found_and_the_last_one_counts() {
        let (value, doubled) =
            parse(br#"{"a":1,"b":{"c":[{"d":1,"d":-2}]},"a":18446744073709551615}"#).unwrap();
        assert_eq!(value.to_string(), r#"{"a":18446744073709551615,"b":{"c":[{"d":-2}]}}"#);
        assert_eq!(doubled, ["line 1: key \"d\" already set in map", "line 1: key \"a\" already set in map"]);
    }
}
