//! From the command line to the exit class.

use std::ffi::OsString;

use kubesettle::error::ExitClass;

use crate::args::{self, Color, Output};
use crate::cmd::{self, Stop};
use crate::env::Variables;
use crate::print::Page;
use crate::print::out::Out;
use crate::settings::{self, Settings, Task};

/// Does what the command line says.
pub(crate) fn run(words: &[OsString], variables: &Variables) -> ExitClass {
    let cli = match args::parse(words) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    let json = cli.view.output == Some(Output::Json);
    match settings::resolve(cli, variables) {
        Ok(settings) => start(words, &settings),
        Err(failure) => {
            let (mut out, mut page) = (Out::new(Color::Never), Page::default());
            stopped(Stop::Failure(failure), json, &mut page, &mut out)
        }
    }
}

fn start(words: &[OsString], settings: &Settings) -> ExitClass {
    let (mut out, mut page) = (Out::new(settings.view.color), Page::default());
    let json = settings.view.output == Output::Json;
    let result = match &settings.task {
        Task::Apply(apply) => cmd::apply::run(apply, settings.view, &mut out),
        Task::Destroy(destroy) => cmd::destroy::run(destroy, settings.view, &mut out),
        Task::Status(status) => cmd::status::run(status, settings.view, &mut out),
        Task::Local(local) => cmd::local::run(local, settings.view, &mut out),
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
fn unparsed(error: &clap::Error) -> ExitClass {
    let mut page = Page::default();
    let text = error.render().to_string();
    let class = if error.use_stderr() {
        page.err = text;
        ExitClass::Usage
    } else {
        page.out = text;
        ExitClass::Ok
    };
    Out::new(Color::Never).write(&mut page);
    class
}
