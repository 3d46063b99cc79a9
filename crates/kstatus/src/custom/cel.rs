//! CEL, as the API server has it: the language and the functions of Kubernetes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kube_cel::KubeCelExt;
use kube_cel::cel::{self, Context, ExecutionError, Value as CelValue};
use serde_json::Value;

/// A compiled expression.
#[derive(Clone)]
pub(super) struct Program(Arc<cel::Program>);

const BROKEN: &str = "the interpreter broke off";

impl Program {
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        let compiled = catch_unwind(|| cel::Program::compile(text)).map_err(|_| BROKEN.to_owned())?;
        compiled.map(|program| Self(Arc::new(program))).map_err(|errors| {
            let text = errors.to_string();
            // The first line names the place; the others draw it.
            let first = text.lines().next().unwrap_or_default();
            let first = first.strip_prefix("ERROR: <input>:").unwrap_or(first);
            format!("CEL at {}", crate::text::prefix(first, 200))
        })
    }

    pub(super) fn holds(&self, object: &Value) -> Result<bool, String> {
        match self.run(object)? {
            CelValue::Bool(holds) => Ok(holds),
            other => Err(format!("gives a {} and not true or false", other.type_of())),
        }
    }

    pub(super) fn says(&self, object: &Value) -> Result<String, String> {
        match self.run(object)? {
            CelValue::String(text) => Ok(text.to_string()),
            CelValue::Int(number) => Ok(number.to_string()),
            CelValue::UInt(number) => Ok(number.to_string()),
            CelValue::Float(number) => Ok(number.to_string()),
            CelValue::Bool(holds) => Ok(holds.to_string()),
            CelValue::Null => Ok(String::new()),
            other => Err(format!("gives a {} and not a text", other.type_of())),
        }
    }

    fn run(&self, object: &Value) -> Result<CelValue, String> {
        let run = || {
            let object = cel::to_value(object).map_err(|_| "the object cannot be shown to CEL".to_owned())?;
            let mut context = Context::default().with_all();
            context.add_variable_from_value("self", object.clone());
            context.add_variable_from_value("object", object);
            self.0.execute(&context).map_err(|error| words(&error))
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(BROKEN.to_owned()))
    }
}

/// Own words: those of the interpreter may hold values, and an object may be a Secret.
fn words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key} (ask with has() first)"),
        ExecutionError::UndeclaredReference(name) => {
            format!("{name} is not known; the object is called object")
        }
        ExecutionError::InvalidArgumentCount { expected, actual } => {
            format!("a function takes {expected} arguments and got {actual}")
        }
        ExecutionError::FunctionError { function, .. } => format!("{function}() fails"),
        ExecutionError::UnexpectedType { got, want } => format!("found a {got} where a {want} is expected"),
        ExecutionError::NotSupportedAsMethod { method, .. } => {
            format!("{method}() does not exist for this type")
        }
        _ => "types that do not go together".to_owned(),
    }
}
