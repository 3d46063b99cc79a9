//! How far the last run got with one object, in kapply's words.

use std::fmt;

use serde_json::{Value, json};

/// An enum whose variants are spelled in the stored form as they are here.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$about_word:meta])* $word:ident,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$about_word])* $word,)+ }

        impl $name {
            /// Every word, in the order of the enum.
            pub const ALL: &[Self] = &[$(Self::$word,)+];

            /// The word of the stored form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$word => stringify!($word),)+ }
            }

            /// The other way round; `None` for a word that the stored form does not have.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a run wants with an object.
    Strategy {
        /// It is in the input.
        Apply,
        /// It has left the input, or the set is destroyed.
        Delete,
    }
}

words! {
    /// How the request for an object went.
    Actuation {
        /// Not tried yet.
        Pending,
        /// The server accepted it.
        Succeeded,
        /// Not tried, with a reason.
        Skipped,
        /// The server refused.
        Failed,
    }
}

words! {
    /// How the wait for an object went.
    Reconcile {
        /// Not over yet.
        Pending,
        /// Settled, or gone after a deletion.
        Succeeded,
        /// There was nothing to wait for.
        Skipped,
        /// It will not settle.
        Failed,
        /// Time ran out.
        Timeout,
    }
}

/// What the record says of one object when statuses are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectStatus {
    /// What the run wants with it.
    pub strategy: Strategy,
    /// How its request went.
    pub actuation: Actuation,
    /// How its wait went.
    pub reconcile: Reconcile,
}

impl ObjectStatus {
    /// The state before anything was tried.
    pub fn pending(strategy: Strategy) -> Self {
        Self { strategy, actuation: Actuation::Pending, reconcile: Reconcile::Pending }
    }

    /// The stored form, byte for byte kapply's: keys in alphabetical order.
    pub fn to_json(self) -> String {
        self.to_value().to_string()
    }

    /// Reads the stored form. `None` when it is not one, or has a word that no version writes.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_value(&serde_json::from_str(text).ok()?)
    }

    pub(super) fn to_value(self) -> Value {
        json!({
            "actuation": self.actuation.as_str(),
            "reconcile": self.reconcile.as_str(),
            "strategy": self.strategy.as_str(),
        })
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let word = |key| value.get(key)?.as_str();
        Some(Self {
            strategy: Strategy::parse(word("strategy")?)?,
            actuation: Actuation::parse(word("actuation")?)?,
            reconcile: Reconcile::parse(word("reconcile")?)?,
        })
    }
}
