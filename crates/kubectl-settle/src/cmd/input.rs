//! The places objects are read from, as the library takes them.

use std::path::PathBuf;

use kstatus::CustomRule;
use kubesettle::manifest::Source;
use kubesettle::rules;

use super::Stop;
use crate::exit::Failure;
use crate::settings::Input;
use crate::stdin;

/// The rules of these files.
pub(super) fn rules(files: &[PathBuf]) -> Result<Vec<CustomRule>, Stop> {
    rules::load(files).map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })
}

/// Every place; standard input is read whole.
pub(super) fn sources(input: &[Input]) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::with_capacity(input.len());
    for one in input {
        sources.push(match one {
            Input::Path { path, recursive } => Source::Path { path: path.clone(), recursive: *recursive },
            Input::Stdin { asked } => Source::Stdin(stdin::read(*asked)?.into()),
        });
    }
    Ok(sources)
}
