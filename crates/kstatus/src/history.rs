/// What earlier judgements of one object left behind: since when each cause has been seen, and what
/// progress looked like then. Opaque; one value per object and run, given to every [`assess`].
///
/// A fresh history means: everything is seen for the first time now, so every hold starts now.
///
/// [`assess`]: crate::assess
#[derive(Clone, Default, Debug)]
pub struct History {}
