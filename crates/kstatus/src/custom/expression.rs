use serde_json::Value;

use crate::path::JsonPath;
use crate::text::short;

/// No expression is longer: rules are small.
const LONGEST: usize = 16 << 10;

/// An expression over an object. Two are equal when they were written alike.
#[derive(Clone)]
pub(super) struct Expression {
    text: Box<str>,
    code: Code,
}

#[derive(Clone)]
enum Code {
    Path(JsonPath),
    Compare {
        left: JsonPath,
        same: bool,
        right: Operand,
    },
    #[cfg(feature = "cel")]
    Cel(super::cel::Program),
}

#[derive(Clone)]
enum Operand {
    Path(JsonPath),
    Word(Box<str>),
}

impl Expression {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is empty".to_owned());
        }
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        let code = if text.starts_with('{') { paths(text)? } else { cel(text)? };
        Ok(Self { text: text.into(), code })
    }

    /// Whether it holds for the object.
    pub(super) fn holds(&self, object: &Value) -> Result<bool, String> {
        match &self.code {
            Code::Path(path) => {
                let found = path.values(object);
                Ok(!found.is_empty() && found.iter().all(|value| is_given(value)))
            }
            Code::Compare { left, same, right } => {
                let found: Vec<String> = left.values(object).into_iter().map(word).collect();
                let wanted: Vec<String> = match right {
                    Operand::Word(word) => vec![word.to_string(); found.len()],
                    Operand::Path(path) => path.values(object).into_iter().map(word).collect(),
                };
                let equal = !found.is_empty() && found == wanted;
                Ok(equal == *same && !found.is_empty())
            }
            #[cfg(feature = "cel")]
            Code::Cel(program) => program.holds(object),
        }
    }

    /// The text it gives.
    pub(super) fn says(&self, object: &Value) -> Result<String, String> {
        match &self.code {
            Code::Path(path) => {
                let words: Vec<String> = path.values(object).into_iter().map(word).collect();
                Ok(words.join(" "))
            }
            Code::Compare { .. } => self.holds(object).map(|holds| holds.to_string()),
            #[cfg(feature = "cel")]
            Code::Cel(program) => program.says(object),
        }
    }
}

/// `{PATH}`, or `{PATH}=VALUE`, or the same with `!=`; a value in braces is a path as well.
fn paths(text: &str) -> Result<Code, String> {
    let (left, rest) = JsonPath::in_braces(text)?;
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(Code::Path(left));
    }
    let (same, right) = match (rest.strip_prefix("!="), rest.strip_prefix("==").or(rest.strip_prefix('='))) {
        (Some(right), _) => (false, right.trim()),
        (None, Some(right)) => (true, right.trim()),
        (None, None) => return Err(format!("behind the path stands {:?}; expected = or !=", short(rest))),
    };
    if right.is_empty() {
        return Err("there is nothing behind the = to compare with".to_owned());
    }
    let right = if right.starts_with('{') {
        match JsonPath::in_braces(right)? {
            (path, rest) if rest.trim().is_empty() => Operand::Path(path),
            (_, rest) => return Err(format!("behind the second path stands {:?}", short(rest.trim()))),
        }
    } else {
        Operand::Word(right.trim_matches(['"', '\'']).into())
    };
    Ok(Code::Compare { left, same, right })
}

#[cfg(feature = "cel")]
fn cel(text: &str) -> Result<Code, String> {
    super::cel::Program::compile(text).map(Code::Cel)
}

#[cfg(not(feature = "cel"))]
fn cel(_: &str) -> Result<Code, String> {
    Err("is not a JSONPath in braces, and this program was built without CEL".to_owned())
}

/// Neither false nor nothing.
fn is_given(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && !text.eq_ignore_ascii_case("false"),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// A text as it is, anything else as JSON.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
