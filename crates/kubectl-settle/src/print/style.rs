//! Colours. They only ever add to words.

use owo_colors::Style;

/// Whether to colour, and with what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Palette {
    on: bool,
}

/// What a piece of text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Faint,
    Good,
    Attention,
    Bad,
    Strong,
}

impl Palette {
    pub(crate) fn new(on: bool) -> Self {
        Self { on }
    }

    /// The text, coloured if there are colours.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Good => Style::new().green(),
            Tone::Attention => Style::new().yellow(),
            Tone::Bad => Style::new().red(),
            Tone::Strong => Style::new().bold(),
        };
        if self.on { style.style(text).to_string() } else { text.to_owned() }
    }
}
