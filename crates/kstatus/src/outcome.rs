//! What the rules say about an object by itself, and what they leave open.

use std::borrow::Cow;

use crate::cause::CauseCode;
use crate::time::Timestamp;
use crate::verdict::{Progress, Status};

/// What an object says about itself.
#[derive(Clone, Debug)]
pub(crate) enum Own {
    /// Said by a row that has nothing to add: nothing is kept but the row's words.
    Plain(&'static Plain),
    /// Said by a row in its own words and with small numbers, as of nearly all that has settled.
    Brief(Box<Brief>),
    Told(Box<Told>),
}

#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) status: Status,
    pub(crate) reason: &'static str,
    pub(crate) message: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct Brief {
    reason: &'static str,
    message: &'static str,
    /// What is counted; empty where nothing is.
    what: &'static str,
    have: u32,
    want: u32,
    /// The end of the message.
    number: u32,
    numbered: bool,
    status: Status,
}

impl Brief {
    /// `None` when a number is too large.
    pub(crate) fn new(
        status: Status,
        reason: &'static str,
        message: &'static str,
        number: Option<i64>,
        progress: Option<Progress>,
    ) -> Option<Self> {
        let small = |number: i64| u32::try_from(number).ok();
        let Progress { have, want, what } = progress.unwrap_or(Progress { have: 0, want: 0, what: "" });
        Some(Self {
            reason,
            message,
            what,
            have: small(have)?,
            want: small(want)?,
            number: small(number.unwrap_or(0))?,
            numbered: number.is_some(),
            status,
        })
    }

    fn message(&self) -> Cow<'static, str> {
        match self.numbered {
            true => Cow::Owned(format!("{}{}", self.message, self.number)),
            false => Cow::Borrowed(self.message),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) status: Status,
    pub(crate) reason: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
    pub(crate) progress: Option<Box<Progress>>,
    pub(crate) findings: Box<[Finding]>,
    pub(crate) open: Open,
}

impl Own {
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Plain(plain) => plain.status,
            Self::Brief(brief) => brief.status,
            Self::Told(told) => told.status,
        }
    }

    pub(crate) fn reason(&self) -> Cow<'static, str> {
        match self {
            Self::Plain(plain) => Cow::Borrowed(plain.reason),
            Self::Brief(brief) => Cow::Borrowed(brief.reason),
            Self::Told(told) => told.reason.clone(),
        }
    }

    pub(crate) fn message(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(plain) => Cow::Borrowed(plain.message),
            Self::Brief(brief) => brief.message(),
            Self::Told(told) => Cow::Borrowed(&told.message),
        }
    }

    pub(crate) fn progress(&self) -> Option<Progress> {
        match self {
            Self::Plain(_) => None,
            Self::Brief(brief) => (!brief.what.is_empty()).then(|| Progress {
                have: brief.have.into(),
                want: brief.want.into(),
                what: brief.what,
            }),
            Self::Told(told) => told.progress.as_deref().copied(),
        }
    }

    pub(crate) fn findings(&self) -> &[Finding] {
        match self {
            Self::Plain(_) | Self::Brief(_) => &[],
            Self::Told(told) => &told.findings,
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let told = match self {
            Self::Plain(_) => return 0,
            Self::Brief(brief) => return std::mem::size_of_val(&**brief),
            Self::Told(told) => told,
        };
        let owned = |text: &Cow<'static, str>| match text {
            Cow::Owned(text) => text.capacity(),
            Cow::Borrowed(_) => 0,
        };
        let progress = told.progress.as_deref().map_or(0, std::mem::size_of_val);
        let findings: usize =
            told.findings.iter().map(|finding| std::mem::size_of::<Finding>() + finding.text.len()).sum();
        let class = match &told.open {
            Open::Claim { class: Some(class) } => class.len(),
            _ => 0,
        };
        std::mem::size_of::<Told>() + owned(&told.reason) + owned(&told.message) + progress + findings + class
    }

    /// The same written out, for what is to be added.
    pub(crate) fn into_told(self) -> Box<Told> {
        let message = match self {
            Self::Plain(plain) => Cow::Borrowed(plain.message),
            Self::Brief(ref brief) => brief.message(),
            Self::Told(told) => return told,
        };
        Box::new(Told {
            status: self.status(),
            reason: self.reason(),
            message,
            progress: self.progress().map(Box::new),
            findings: Box::default(),
            open: Open::Nothing,
        })
    }

    pub(crate) fn open(&self) -> &Open {
        match self {
            Self::Plain(_) | Self::Brief(_) => &Open::Nothing,
            Self::Told(told) => &told.open,
        }
    }
}

/// What the object alone cannot decide: the surroundings, the time or the policy do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Open {
    Nothing,
    /// Nobody has written a status, or one that says nothing: current, unless somebody is expected
    /// to speak and the grace still runs.
    Silent(Expected),
    /// A claim that waits for a volume: current when its class binds late and nobody uses it.
    Claim {
        class: Option<Box<str>>,
    },
    /// In progress, but current when the policy does not wait for this.
    Waived(Waiver),
    /// Current, but in progress when the policy waits for an address.
    Address,
}

/// Whether a status is known to be coming.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// The kind always gets one.
    Surely,
    /// The schema of the kind decides; when that is not known, a short grace.
    BySchema,
    /// There is a status. Only a schema that promises conditions is waited for.
    Conditions,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiver {
    LoadBalancer,
    StartedJob,
}

/// Something wrong, found on the object itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    pub(crate) code: CauseCode,
    /// Shown, but no reason to fail anything: an ephemeral container, a lesser condition.
    pub(crate) advisory: bool,
    pub(crate) restarts: u32,
    container_len: u32,
    /// The container's name, then the detail: one allocation for both.
    text: Box<str>,
    pub(crate) since: Option<Timestamp>,
}

impl Finding {
    pub(crate) fn new(code: CauseCode, detail: &str) -> Self {
        Self {
            code,
            advisory: false,
            restarts: 0,
            container_len: 0,
            text: crate::text::prefix(detail.trim(), crate::text::MESSAGE_LIMIT).into(),
            since: None,
        }
    }

    pub(crate) fn in_container(code: CauseCode, container: &str, detail: &str) -> Self {
        let container = crate::text::prefix(container, 253);
        let detail = crate::text::prefix(detail.trim(), crate::text::MESSAGE_LIMIT);
        Self {
            container_len: u32::try_from(container.len()).unwrap_or(0),
            text: [container, detail].concat().into(),
            ..Self::new(code, "")
        }
    }

    pub(crate) fn container(&self) -> Option<&str> {
        let name = self.text.get(..self.container_len as usize)?;
        (!name.is_empty()).then_some(name)
    }

    pub(crate) fn detail(&self) -> &str {
        self.text.get(self.container_len as usize..).unwrap_or_default()
    }
}
