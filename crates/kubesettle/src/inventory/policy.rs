//! Whose an object is, and whether it may be touched.

use std::fmt;

use super::name;
use super::status::Strategy;

/// The annotation on every object of a set; its value is the set's id.
pub const OWNING_INVENTORY: &str = "config.k8s.io/owning-inventory";

/// What may be done with objects that do not carry the set's mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InventoryPolicy {
    /// Nothing.
    #[default]
    Strict,
    /// Objects without any mark are taken over.
    Adopt,
    /// Objects of other sets are taken over too.
    ForceAdopt,
}

impl InventoryPolicy {
    const ALL: [Self; 3] = [Self::Strict, Self::Adopt, Self::ForceAdopt];

    /// The word of the `--inventory-policy` flag.
    pub fn word(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Adopt => "adopt",
            Self::ForceAdopt => "force-adopt",
        }
    }

    /// The name in messages, as kapply has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "MustMatch",
            Self::Adopt => "AdoptIfNoInventory",
            Self::ForceAdopt => "AdoptAll",
        }
    }

    /// Reads the word of the flag.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.word() == word)
    }

    fn accepts(self, owner: IdMatch) -> bool {
        match owner {
            IdMatch::Match => true,
            IdMatch::Empty => self != Self::Strict,
            IdMatch::NoMatch => self == Self::ForceAdopt,
        }
    }
}

/// How the mark of a live object compares with the id of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdMatch {
    /// It carries none.
    Empty,
    /// It is ours.
    Match,
    /// It is another set's.
    NoMatch,
}

impl IdMatch {
    /// Compares the annotation of a live object (`None` when it has none) with the id of the set.
    pub fn new(owner: Option<&str>, id: &str) -> Self {
        match owner {
            None => Self::Empty,
            Some(owner) if owner == id => Self::Match,
            Some(_) => Self::NoMatch,
        }
    }

    /// The word in messages, as kapply has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Match => "Match",
            Self::NoMatch => "NoMatch",
        }
    }
}

/// A policy that kept an object from being touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRefusal {
    /// What was to be done.
    pub strategy: Strategy,
    /// The policy.
    pub policy: InventoryPolicy,
    /// How the object's mark compares with the set.
    pub status: IdMatch,
    /// The mark of the object.
    pub owner: Option<Box<str>>,
}

/// kapply's words.
impl fmt::Display for PolicyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "inventory policy prevented actuation (strategy: {}, status: {}, policy: {})",
            self.strategy,
            self.status.as_str(),
            self.policy.as_str()
        )
    }
}

impl std::error::Error for PolicyRefusal {}

impl PolicyRefusal {
    /// True when another set's mark is on the object. An empty mark is nobody's.
    pub fn is_owned_by_another(&self) -> bool {
        self.status == IdMatch::NoMatch && self.owner.as_ref().is_some_and(|owner| !owner.is_empty())
    }

    /// Who owns the object, and how it can be taken over.
    pub fn hint(&self) -> String {
        match &self.owner {
            None => {
                format!("no set owns it; --inventory-policy={} takes it over", InventoryPolicy::Adopt.word())
            }
            Some(id) => {
                let owner = match name::set_of_id(id) {
                    Some(set) => format!("set {set}"),
                    None => format!("the set with inventory-id {id:?}"),
                };
                let word = InventoryPolicy::ForceAdopt.word();
                format!("{owner} owns it; --inventory-policy={word} takes it away from there")
            }
        }
    }
}

/// Whether an object that exists may be applied. One that does not exist always may.
///
/// # Errors
/// The refusal.
pub fn can_apply(policy: InventoryPolicy, owner: Option<&str>, id: &str) -> Result<(), PolicyRefusal> {
    check(Strategy::Apply, policy, owner, id)
}

/// Whether an object that exists may be deleted.
///
/// # Errors
/// The refusal.
pub fn can_prune(policy: InventoryPolicy, owner: Option<&str>, id: &str) -> Result<(), PolicyRefusal> {
    check(Strategy::Delete, policy, owner, id)
}

fn check(
    strategy: Strategy,
    policy: InventoryPolicy,
    owner: Option<&str>,
    id: &str,
) -> Result<(), PolicyRefusal> {
    let status = IdMatch::new(owner, id);
    match policy.accepts(status) {
        true => Ok(()),
        false => Err(PolicyRefusal { strategy, policy, status, owner: owner.map(Into::into) }),
    }
}
