//! Who asks, and what they may do: tokens with plain rules in place of RBAC objects.

use crate::ask::Target;
use crate::failure::{Failure, What};

/// A user known by a bearer token.
///
/// Without any user, every request may do everything. As soon as there is one, a request without a
/// token is that of `system:anonymous`, who may do nothing, and an unknown token is refused with 401.
#[derive(Clone, Debug)]
pub struct User {
    name: String,
    admin: bool,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    allowed: bool,
    verbs: Vec<String>,
    /// `configmaps`, `deployments.apps`, `pods/log`, or `*`.
    resource: String,
    /// Empty for all namespaces.
    namespace: String,
    /// Empty for all names.
    name: String,
}

impl User {
    /// A user who may do everything.
    pub fn admin(name: impl Into<String>) -> Self {
        Self { name: name.into(), admin: true, rules: Vec::new() }
    }

    /// A user who may do nothing yet.
    pub fn limited(name: impl Into<String>) -> Self {
        Self { name: name.into(), admin: false, rules: Vec::new() }
    }

    /// Allows verbs (comma separated; `*` for all) on a resource such as `configmaps` or
    /// `deployments.apps`, in one namespace or, with an empty one, everywhere; for one object or,
    /// with an empty name, for all.
    #[must_use]
    pub fn allow(self, verbs: &str, resource: &str, namespace: &str, name: &str) -> Self {
        self.rule(true, verbs, resource, namespace, name)
    }

    /// Forbids what [`allow`](Self::allow) or [`admin`](Self::admin) would let through; of two rules
    /// that fit, the later one counts.
    #[must_use]
    pub fn deny(self, verbs: &str, resource: &str, namespace: &str, name: &str) -> Self {
        self.rule(false, verbs, resource, namespace, name)
    }

    fn rule(mut self, allowed: bool, verbs: &str, resource: &str, namespace: &str, name: &str) -> Self {
        self.rules.push(Rule {
            allowed,
            verbs: verbs.split(',').map(|verb| verb.trim().to_owned()).collect(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        });
        self
    }

    fn may(&self, verb: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let rule = self.rules.iter().rev().find(|rule| rule.fits(verb, resource, namespace, name));
        rule.map_or(self.admin, |rule| rule.allowed)
    }
}

impl Rule {
    fn fits(&self, verb: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let any = |wanted: &str, given: &str| wanted.is_empty() || wanted == given;
        self.verbs.iter().any(|known| known == "*" || known == verb)
            && (self.resource == "*" || self.resource == resource)
            && any(&self.namespace, namespace)
            && any(&self.name, name)
    }
}

/// All users by token.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users(Vec<(String, User)>);

impl Users {
    pub(crate) fn set(&mut self, token: &str, user: User) {
        self.0.retain(|(known, _)| known != token);
        self.0.push((token.to_owned(), user));
    }

    pub(crate) fn remove(&mut self, token: &str) {
        self.0.retain(|(known, _)| known != token);
        if self.0.is_empty() {
            // Somebody is still needed for tokens to be looked at.
            self.0.push((String::new(), User::limited("nobody")));
        }
    }

    /// Who a token stands for.
    pub(crate) fn authenticate(&self, token: Option<&str>) -> Result<User, Failure> {
        if self.0.is_empty() {
            return Ok(User::admin("sandbox-admin"));
        }
        let Some(token) = token else { return Ok(User::limited("system:anonymous")) };
        let known = self.0.iter().find(|(known, _)| known == token && !known.is_empty());
        known.map(|(_, user)| user.clone()).ok_or_else(|| Failure::new(401, "Unauthorized", "Unauthorized"))
    }
}

impl User {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == "system:anonymous"
    }

    /// Refuses what the user may not do. `name` is that of the path or of the field selector.
    pub(crate) fn authorize(&self, verb: &str, target: &Target, name: &str) -> Result<(), Failure> {
        let resource = match target.subresource.as_str() {
            "" => crate::kinds::resource_id(&target.group, &target.plural),
            sub => format!("{}/{sub}", crate::kinds::resource_id(&target.group, &target.plural)),
        };
        if self.may(verb, &resource, &target.namespace, name)
            || is_self_review(target) && !self.is_anonymous()
        {
            return Ok(());
        }
        Err(self.forbidden(verb, target, name))
    }

    /// True when the user may do it.
    pub(crate) fn allowed(&self, verb: &str, target: &Target) -> bool {
        self.authorize(verb, target, &target.name).is_ok()
    }

    fn forbidden(&self, verb: &str, target: &Target, name: &str) -> Failure {
        let resource = match target.subresource.as_str() {
            "" => target.plural.clone(),
            sub => format!("{}/{sub}", target.plural),
        };
        let scope = match target.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let why = format!(
            "User \"{}\" cannot {verb} resource \"{resource}\" in API group \"{}\" {scope}",
            self.name, target.group
        );
        Failure::forbidden(&What { group: &target.group, plural: &target.plural, name }, &why)
    }
}

fn is_self_review(target: &Target) -> bool {
    target.group == "authorization.k8s.io" && target.plural.starts_with("selfsubject")
}
