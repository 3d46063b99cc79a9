//! Standard output and standard error. Nothing else writes to them.

use std::io::{self, IsTerminal, Write};

use super::Page;
use super::style::Palette;
use crate::args::Color;

/// The two streams.
#[derive(Debug)]
pub(crate) struct Out {
    palette: Palette,
    closed: bool,
}

impl Out {
    pub(crate) fn new(color: Color) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal(),
        };
        Self { palette: Palette::new(on), closed: false }
    }

    /// The colours of standard output.
    pub(crate) fn palette(&self) -> Palette {
        self.palette
    }

    /// True once standard output takes nothing more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes and empties the page; each stream is flushed. A reader that went away (`| head`) is
    /// no news; any other error is told on standard error.
    pub(crate) fn write(&mut self, page: &mut Page) {
        let out = std::mem::take(&mut page.out);
        let written = if self.closed || out.is_empty() { Ok(()) } else { whole(io::stdout().lock(), &out) };
        if let Err(error) = written {
            self.closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                page.err.push_str(&format!("error: cannot write to standard output: {error}\n"));
            }
        }
        let err = std::mem::take(&mut page.err);
        if !err.is_empty() {
            // Nobody is left to be told.
            let _ = whole(io::stderr().lock(), &err);
        }
    }
}

fn whole(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Tells of a panic in place of the standard message: where it was, and that it is ours.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = format!(
            "internal error: {info}\nThis is a bug of kubesettle. Please report it with the lines above.\n"
        );
        let _ = whole(io::stderr().lock(), &text);
    }));
}
