//! Fake nodes.

use serde_json::{Value, json};

use crate::{Api, Error};

/// Makes the nodes `node-0` to `node-N`; kwok turns them ready.
pub(super) fn create(api: &Api, count: usize) -> Result<(), Error> {
    for number in 0..count {
        let name = format!("node-{number}");
        let size = json!({ "cpu": "64", "memory": "256Gi", "ephemeral-storage": "256Gi", "pods": "250" });
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                },
            },
            "status": { "capacity": size, "allocatable": size },
        });
        let reply = api.post("/api/v1/nodes", &node)?;
        if reply.status != 201 {
            return Err(Error::new(format!("cannot make {name}: {}", reply.text)));
        }
    }
    Ok(())
}

/// Whether all `count` nodes are ready and take pods.
pub(super) fn all_ready(api: &Api, count: usize) -> bool {
    let Ok(reply) = api.get("/api/v1/nodes") else {
        return false;
    };
    let list = reply.json();
    let nodes = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    nodes.len() == count && nodes.iter().all(is_ready)
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    // The taint of a new node goes some time after it became ready; until then it takes no pod.
    ready && node["spec"]["taints"].as_array().is_none_or(Vec::is_empty)
}
