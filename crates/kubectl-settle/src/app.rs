//! From the command line to the exit class.

use std::ffi::OsString;

use clap::error::ErrorKind;
use kubesettle::error::ExitClass;

use crate::args::{self, Color, Output, Role};
use crate::cmd::{self, Stop};
use crate::env::Variables;
use crate::print::Page;
use crate::print::out::Out;
use crate::saved;
use crate::settings::{self, Settings, Task};

/// Does what the command line says.
pub(crate) fn run(words: &[OsString], variables: &Variables) -> ExitClass {
    let role = Role::of(words.first());
    let mut cli = match args::parse(words) {
        Ok(cli) => cli,
        Err(error) => return in_role(role, unparsed(role, &error)),
    };
    let json = cli.view.output == Some(Output::Json);
    let settings = saved::open(&mut cli).and_then(|agreed| {
        let mut settings = settings::resolve(cli, role, variables)?;
        settings.agree(agreed);
        Ok(settings)
    });
    match settings {
        // The codes of a comparison are the same everywhere.
        Ok(settings) if matches!(settings.task, Task::Diff(_)) => start(words, &settings),
        Ok(settings) => in_role(role, start(words, &settings)),
        Err(failure) => {
            let (mut out, mut page) = (Out::new(Color::Never), Page::default());
            in_role(role, stopped(Stop::Failure(failure), json, &mut page, &mut out))
        }
    }
}

/// kapply knows two exit codes: it went well, or it did not.
fn in_role(role: Role, class: ExitClass) -> ExitClass {
    match (role, class) {
        (Role::Settle, class) | (Role::Kapply, class @ ExitClass::Ok) => class,
        (Role::Kapply, _) => ExitClass::Failed,
    }
}

fn start(words: &[OsString], settings: &Settings) -> ExitClass {
    let (mut out, mut page) = (Out::new(settings.view.color), Page::default());
    let json = settings.view.output == Output::Json;
    let result = match &settings.task {
        Task::Local(local) => cmd::local::run(local, settings.view, &mut out),
        Task::Apply(apply) => cmd::apply::run(apply, settings.role, settings.view, &mut out),
        Task::Destroy(destroy) => cmd::destroy::run(destroy, settings.role, settings.view, &mut out),
        Task::Status(status) => cmd::status::run(status, settings.role, settings.view, &mut out),
        Task::Diff(diff) => cmd::diff::run(diff, &mut out),
        Task::Init(init) => cmd::init::run(init, &mut page),
        Task::Inventory(upkeep) => cmd::inventory::run(upkeep, json, &mut page),
        Task::Version => Ok(cmd::version::run(json, &mut page)),
        Task::Completion(shell) => Ok(cmd::completion::run(*shell, &mut page)),
        Task::Help(topic) => cmd::help::run(args::definition(words.first()), topic, &mut page),
    };
    out.write(&mut page);
    match result {
        Ok(class) => class,
        Err(stop) => stopped(stop, json, &mut page, &mut out),
    }
}

fn stopped(stop: Stop, json: bool, page: &mut Page, out: &mut Out) -> ExitClass {
    let class = stop.tell(json, page);
    out.write(page);
    class
}

/// Help and the version come as errors from clap as well; they go to standard output.
fn unparsed(role: Role, error: &clap::Error) -> ExitClass {
    let mut page = Page::default();
    let text = error.render().to_string();
    let bare = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let class = if error.use_stderr() && !(bare && role == Role::Kapply) {
        page.err = text;
        ExitClass::Usage
    } else {
        page.out = text;
        ExitClass::Ok
    };
    Out::new(Color::Never).write(&mut page);
    class
}
