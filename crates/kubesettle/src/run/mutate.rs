//! The body of an object with the values that it takes from others.

use std::collections::HashMap;

use bytes::Bytes;

use crate::cluster::{Cluster, Content};
use crate::error::{ApiError, ErrorClass};
use crate::id::ObjectId;
use crate::manifest::{Mutation, Object, Substitution};

/// Puts the values of its apply-time mutations into `body`, the body of `object`. Each source is read
/// once, as it is now. Without mutations nothing is read and nothing is changed.
///
/// # Errors
/// A source cannot be read ([`ErrorClass::NotFound`] when it does not exist), or a field does not fit
/// ([`ErrorClass::Invalid`]).
pub async fn complete(cluster: &Cluster, object: &Object, body: Bytes) -> Result<Bytes, ApiError> {
    if object.substitutions().is_empty() {
        return Ok(body);
    }
    let invalid = |message: String| ApiError::local(ErrorClass::Invalid, message);
    let mut mutation =
        Mutation::of(&body).ok_or_else(|| invalid("the manifest is no JSON object".to_owned()))?;
    let mut sources: HashMap<&ObjectId, Bytes> = HashMap::new();
    for substitution in object.substitutions() {
        let source = match sources.get(&substitution.source) {
            Some(source) => source.clone(),
            None => read(cluster, substitution).await.map_err(|error| named(substitution, error))?,
        };
        mutation
            .take(substitution, &source)
            .map_err(|message| invalid(format!("apply-time mutation: {message}")))?;
        sources.insert(&substitution.source, source);
    }
    Ok(mutation.into_json())
}

async fn read(cluster: &Cluster, substitution: &Substitution) -> Result<Bytes, ApiError> {
    let id = &substitution.source;
    let Some(resource) = cluster.resource(id.group_kind(), substitution.version.as_deref()) else {
        let version = substitution.version.as_deref().map_or(String::new(), |at| format!(" in version {at}"));
        let message = format!("the cluster serves no kind {}{version}", id.group_kind());
        return Err(ApiError::local(ErrorClass::NotServed, message));
    };
    let found = cluster.get(&resource, id.namespace(), id.name(), Content::Full).await?;
    found.ok_or_else(|| ApiError::local(ErrorClass::NotFound, "it does not exist"))
}

fn named(substitution: &Substitution, error: ApiError) -> ApiError {
    let Substitution { source, source_path, .. } = substitution;
    let message = format!("cannot take {source_path} of {source:#}: {}", error.message);
    ApiError { message: message.into(), ..error }
}
