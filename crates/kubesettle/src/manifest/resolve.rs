use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::load::remove_duplicates;
use super::near::nearest;
use super::object::{DEPENDS_ON, Scope};
use super::options::{InvalidPolicy, ResolveOptions, ScopeAnswer, UnknownKinds};
use super::problem::{InputProblems, Place, Problem};
use super::{CrdFacts, Manifests, Object};
use crate::id::{GroupKind, ObjectId};

/// Objects whose namespaces are final: what a run works on.
#[derive(Debug)]
pub struct Resolved {
    objects: Vec<Object>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    invalid: Vec<ObjectId>,
    template: Option<Object>,
}

impl Manifests {
    /// Asks for the scope of each kind and settles the namespaces.
    ///
    /// `scope_of` is asked once per kind and version. The version is empty when any version will
    /// do, for kinds that only an annotation names. Kinds that it does not know may be defined by a
    /// CRD of the set.
    ///
    /// # Errors
    ///
    /// All problems, also those kept from loading. With [`InvalidPolicy::Skip`] there is no error.
    pub fn resolve(
        self,
        scope_of: impl FnMut(&GroupKind, &str) -> ScopeAnswer,
        options: &ResolveOptions,
    ) -> Result<Resolved, InputProblems> {
        let resolved = self.resolve_leniently(scope_of, options);
        match options.invalid {
            InvalidPolicy::Refuse if !resolved.problems.is_empty() => {
                Err(InputProblems::new(resolved.problems))
            }
            _ => Ok(resolved),
        }
    }

    pub(crate) fn resolve_leniently(
        self,
        scope_of: impl FnMut(&GroupKind, &str) -> ScopeAnswer,
        options: &ResolveOptions,
    ) -> Resolved {
        let mut kinds = Kinds::new(scope_of, &self.objects);
        let mut step = Step { options, problems: self.problems, warnings: self.warnings };
        let default = options.default_namespace.as_deref();
        for problem in &mut step.problems {
            kinds.default_namespace(problem, default);
        }
        let mut objects = Vec::with_capacity(self.objects.len());
        for object in self.objects {
            let id = object.id().clone();
            let result =
                step.namespace(object, &mut kinds).and_then(|object| step.references(object, &mut kinds));
            match result {
                Ok(object) => objects.push(object),
                Err(problem) => step.problems.push(problem.about(&id)),
            }
        }
        step.problems.extend(remove_duplicates(&mut objects, ", now that their namespaces are filled in"));
        let template = step.take_template(&mut objects);
        let invalid = step.problems.iter().filter_map(|problem| problem.object.clone()).collect();
        Resolved { objects, problems: step.problems, warnings: step.warnings, invalid, template }
    }
}

impl Object {
    /// The object where it belongs, once its kind's scope is known: for objects that were resolved
    /// with [`UnknownKinds::Wait`] before their kind appeared. The second part is a warning.
    ///
    /// # Errors
    ///
    /// It needs a namespace that nobody named, or has another than was asked for.
    pub fn placed(
        mut self,
        scope: Scope,
        options: &ResolveOptions,
    ) -> Result<(Self, Option<Problem>), Problem> {
        let place = self.place().clone();
        let default = options.default_namespace.as_deref();
        let mut warning = None;
        match (scope, self.id().namespace(), default) {
            (Scope::Cluster | Scope::Unknown, "", _) => {}
            (Scope::Cluster, namespace, _) => {
                let message =
                    format!("the kind has no namespaces; left out metadata.namespace {namespace:?}");
                warning = Some(Problem::new(place, message).about(self.id()));
                self.set_namespace(None);
            }
            (Scope::Namespaced, "", Some(default)) => self.set_namespace(Some(default)),
            (Scope::Namespaced, "", None) => {
                let problem = Problem::new(place, "has no metadata.namespace, and there is no default");
                return Err(problem
                    .about(self.id())
                    .hint("set metadata.namespace, or give a default with -n"));
            }
            (_, namespace, Some(wanted)) if options.enforce_namespace && wanted != namespace => {
                let message = format!("is in namespace {namespace:?}, but {wanted:?} was asked for");
                let hint = format!("leave out -n, or give -n {namespace}");
                return Err(Problem::new(place, message).about(self.id()).hint(hint));
            }
            _ => {}
        }
        self.scope = scope;
        Ok((self, warning))
    }
}

struct Step<'a> {
    options: &'a ResolveOptions,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// A CRD's group has a dot; the groups without one are Kubernetes' own, and all their kinds are served
/// from the start.
fn may_come_later(kind: &GroupKind) -> bool {
    kind.group().contains('.')
}

impl Step<'_> {
    fn namespace<F: FnMut(&GroupKind, &str) -> ScopeAnswer>(
        &mut self,
        object: Object,
        kinds: &mut Kinds<F>,
    ) -> Result<Object, Problem> {
        let place = object.place().clone();
        let known = kinds.known(object.group_kind(), object.version());
        let scope = match known {
            Known::Scope(scope) => *scope,
            Known::Unknown { .. }
                if self.options.unknown_kinds == UnknownKinds::Wait
                    && may_come_later(object.group_kind()) =>
            {
                Scope::Unknown
            }
            Known::Unknown { message, hint } => {
                let problem = Problem::new(place, message.clone());
                return Err(match hint {
                    Some(hint) => problem.hint(hint.clone()),
                    None => problem,
                });
            }
        };
        let (object, warning) = object.placed(scope, self.options)?;
        self.warnings.extend(warning);
        Ok(object)
    }

    /// Checks what annotations name, and fills in the namespaces of mutation sources.
    fn references<F: FnMut(&GroupKind, &str) -> ScopeAnswer>(
        &self,
        mut object: Object,
        kinds: &mut Kinds<F>,
    ) -> Result<Object, Problem> {
        for target in object.depends_on() {
            let wrong = match (kinds.known(target.group_kind(), ""), target.namespace()) {
                (Known::Scope(Scope::Namespaced), "") => Some(
                    "the kind has namespaces: write <group>/namespaces/<namespace>/<kind>/<name>".to_owned(),
                ),
                (Known::Scope(Scope::Cluster), namespace) if !namespace.is_empty() => {
                    Some("the kind has no namespaces: write <group>/<kind>/<name>".to_owned())
                }
                (Known::Unknown { message, .. }, _) if self.options.unknown_kinds == UnknownKinds::Refuse => {
                    Some(message.clone())
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                let message = format!("annotation {DEPENDS_ON}: {:?}: {wrong}", target.reference());
                return Err(Problem::new(object.place().clone(), message));
            }
        }
        let own = object.id().namespace().to_owned();
        let needs = |source: &ObjectId| source.namespace().is_empty() && !own.is_empty();
        if object.substitutions().iter().any(|substitution| needs(&substitution.source)) {
            for substitution in &mut Arc::make_mut(&mut object.facts).substitutions {
                let scope = kinds.known(substitution.source.group_kind(), "");
                if needs(&substitution.source) && !matches!(scope, Known::Scope(Scope::Cluster)) {
                    substitution.source = substitution.source.in_namespace(&own);
                }
            }
        }
        match object.substitutions().iter().any(|substitution| substitution.source == *object.id()) {
            true => Err(Problem::new(object.place().clone(), "takes a value from itself at apply time")),
            false => Ok(object),
        }
    }

    fn take_template(&mut self, objects: &mut Vec<Object>) -> Option<Object> {
        let mut templates = objects.extract_if(.., |object| object.inventory_id().is_some());
        let template = templates.next()?;
        let problem = |other: Object| {
            let message = format!("is a second inventory template; the first is at {}", template.place());
            Problem::new(other.place().clone(), message).about(other.id())
        };
        self.problems.extend(templates.map(problem));
        Some(template)
    }
}

enum Known {
    Scope(Scope),
    Unknown { message: String, hint: Option<String> },
}

/// What has been found out about kinds.
struct Kinds<F> {
    ask: F,
    crds: HashMap<GroupKind, (CrdFacts, Place)>,
    known: HashMap<GroupKind, HashMap<Box<str>, Known>>,
}

impl<F: FnMut(&GroupKind, &str) -> ScopeAnswer> Kinds<F> {
    fn new(ask: F, objects: &[Object]) -> Self {
        let crds = objects.iter().filter_map(|object| {
            let facts = object.crd()?;
            Some((facts.group_kind().clone(), (facts.clone(), object.place().clone())))
        });
        Self { ask, crds: crds.collect(), known: HashMap::new() }
    }

    fn known(&mut self, kind: &GroupKind, version: &str) -> &Known {
        let Self { ask, crds, known } = self;
        let versions = known.entry(kind.clone()).or_default();
        versions.entry(version.into()).or_insert_with(|| match (ask(kind, version), crds.get(kind)) {
            (ScopeAnswer::Namespaced, _) => Known::Scope(Scope::Namespaced),
            (ScopeAnswer::Cluster, _) => Known::Scope(Scope::Cluster),
            (ScopeAnswer::UnknownKind { .. }, Some((crd, place))) => defined(crd, place, version),
            (ScopeAnswer::UnknownKind { near }, None) => unknown(kind, version, near, crds),
        })
    }

    /// A problem's object goes by the name that it would have had.
    fn default_namespace(&mut self, problem: &mut Problem, default: Option<&str>) {
        if let (Some(id), Some(default)) = (&problem.object, default)
            && id.namespace().is_empty()
            && matches!(self.known(id.group_kind(), ""), Known::Scope(Scope::Namespaced))
        {
            problem.object = Some(id.in_namespace(default));
        }
    }
}

fn defined(crd: &CrdFacts, place: &Place, version: &str) -> Known {
    if version.is_empty() || crd.served().any(|served| served == version) {
        return Known::Scope(crd.scope());
    }
    let served: Vec<&str> = crd.served().collect();
    let message = format!("version {version} is not served; its CRD at {place} serves {}", served.join(", "));
    Known::Unknown { message, hint: None }
}

fn unknown(
    kind: &GroupKind,
    version: &str,
    mut near: Vec<String>,
    crds: &HashMap<GroupKind, (CrdFacts, Place)>,
) -> Known {
    let name = |kind: &GroupKind, version: &str| {
        let parts = [kind.group(), version].into_iter().filter(|part| !part.is_empty());
        match parts.collect::<Vec<_>>().join("/") {
            api if api.is_empty() => kind.kind().to_owned(),
            api => format!("{} ({api})", kind.kind()),
        }
    };
    for close in nearest(kind.kind(), crds.keys().map(GroupKind::kind)) {
        let same = crds.iter().filter(|(other, _)| other.kind() == close);
        near.extend(same.map(|(other, (crd, _))| name(other, crd.served().next().unwrap_or_default())));
    }
    near.sort();
    near.dedup();
    let message = format!("unknown kind {}", name(kind, version));
    let hint = (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")));
    Known::Unknown { message, hint }
}

impl Resolved {
    /// The good objects, in input order, without the inventory template.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Takes the objects out.
    pub fn into_objects(self) -> Vec<Object> {
        self.objects
    }

    /// What was wrong with the others. Empty unless resolved with [`InvalidPolicy::Skip`].
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The names of the objects that were left out because of a problem, as far as they are known.
    /// Whoever depends on one of these cannot be applied, and none of them may be pruned.
    pub fn invalid(&self) -> impl Iterator<Item = &ObjectId> {
        self.invalid.iter()
    }

    /// Leaves out objects, by position, and says why.
    pub(crate) fn reject(&mut self, gone: &HashSet<u32>, problems: impl Iterator<Item = Problem>) {
        self.problems.extend(problems);
        let mut position = 0;
        let gone = self.objects.extract_if(.., |_| {
            position += 1;
            gone.contains(&(position - 1))
        });
        self.invalid.extend(gone.map(|object| object.id().clone()));
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// What was put right in passing.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The inventory template, when the input has one: a ConfigMap with the label
    /// [`INVENTORY_ID`](super::INVENTORY_ID).
    pub fn template(&self) -> Option<&Object> {
        self.template.as_ref()
    }
}
