//! The commands.

pub(crate) mod apply;
pub(crate) mod completion;
mod contact;
pub(crate) mod destroy;
pub(crate) mod diff;
mod drive;
pub(crate) mod help;
pub(crate) mod init;
mod input;
pub(crate) mod inventory;
mod kapply;
pub(crate) mod local;
mod session;
mod signals;
pub(crate) mod status;
pub(crate) mod version;

use kubesettle::error::ExitClass;
use kubesettle::manifest::Problem;

use crate::exit::Failure;
use crate::print::{self, Page};

/// Why a command did not get to its run.
#[derive(Debug)]
pub(crate) enum Stop {
    /// One reason.
    Failure(Failure),
    /// What is wrong with the input, and what else stood in the way.
    Input { problems: Vec<Problem>, besides: Option<Failure> },
}

impl Stop {
    /// Tells all of it; gives the exit class.
    pub(crate) fn tell(&self, json: bool, page: &mut Page) -> ExitClass {
        match self {
            Self::Failure(failure) => {
                print::failure(failure, json, page);
                failure.class()
            }
            Self::Input { problems, besides } => {
                print::problems(problems, json, page);
                let count = print::count(problems.len(), "problem");
                let end = Failure::usage(format!("{count} in the input; nothing was written"));
                print::failure(besides.as_ref().unwrap_or(&end), json, page);
                besides.as_ref().map_or(ExitClass::Usage, |other| other.class().or(ExitClass::Usage))
            }
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
