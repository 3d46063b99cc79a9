use std::borrow::Cow;

use super::{Family, Row, Telling, no_findings};
use crate::outcome::{Open, Plain};
use crate::read::Leaf;
use crate::text::clipped;
use crate::verdict::Status::{Current, Failed, InProgress};
use crate::view::View;

pub(super) const CLAIM: Family = Family {
    kinds: &[("", "PersistentVolumeClaim")],
    rows: &[CLAIM_ROWS],
    otherwise: Plain { status: Current, reason: "Bound", message: "PVC is Bound" },
    findings: no_findings,
};

pub(super) const VOLUME: Family = Family {
    kinds: &[("", "PersistentVolume")],
    rows: &[VOLUME_ROWS],
    otherwise: Plain { status: Current, reason: "Available", message: "PV is available" },
    findings: no_findings,
};

const CLAIM_ROWS: &[Row] = &[
    Row {
        status: Failed,
        reason: "Lost",
        source: "API reference, claim phase",
        when: "phase Lost: the bound volume is gone",
        tell: |view| {
            let volume = view.spec().text("volumeName").unwrap_or_default();
            phase(view, "Lost")
                .then(|| Telling::new(clipped(&format!("PVC has lost its volume. phase: Lost {volume}"))))
        },
    },
    Row {
        status: InProgress,
        reason: "NotBound",
        source: "kstatus; helm/helm#10196",
        when: "phase other than Bound; Current (WaitForFirstConsumer) when the StorageClass binds late, no node is selected and no volume is named",
        tell: not_bound,
    },
    Row {
        status: InProgress,
        reason: "Resizing",
        source: "KEP-1790",
        when: "`spec.resources.requests.storage` > `status.capacity.storage`",
        tell: resizing,
    },
    Row {
        status: InProgress,
        reason: "ModifyingVolume",
        source: "KEP-3751",
        when: "`status.modifyVolumeStatus` is set: another VolumeAttributesClass was asked for",
        tell: |view| {
            let state = view.status.path(&["modifyVolumeStatus", "status"]).text()?;
            Some(Telling::new(clipped(&format!("PVC volume is being modified: {state}"))))
        },
    },
];

fn phase(view: &View<'_>, word: &str) -> bool {
    view.status.text("phase").as_deref() == Some(word)
}

fn not_bound(view: &View<'_>) -> Option<Telling> {
    let phase = view.status.text("phase").filter(|phase| !phase.is_empty());
    if phase.as_deref() == Some("Bound") {
        return None;
    }
    let phase = phase.unwrap_or(Cow::Borrowed("unknown"));
    let telling = Telling::new(clipped(&format!("PVC is not Bound. phase: {phase}")));
    let wants_a_volume = view.spec().text("volumeName").is_some_and(|name| !name.is_empty());
    let selected = view.annotation("volume.kubernetes.io/selected-node").is_some();
    if wants_a_volume || selected {
        return Some(telling);
    }
    let class = view.spec().text("storageClassName");
    let class = class.or_else(|| view.annotation("volume.beta.kubernetes.io/storage-class"));
    // An empty class name asks for a volume made by hand, which binds at once.
    if class.as_deref() == Some("") {
        return Some(telling);
    }
    let class = class.map(|name| crate::text::prefix(&name, 253).into());
    Some(telling.open(Open::Claim { class }))
}

fn resizing(view: &View<'_>) -> Option<Telling> {
    let asked = view.spec().path(&["resources", "requests", "storage"]);
    let have = view.status.path(&["capacity", "storage"]);
    let states = view.status.field("allocatedResourceStatuses");
    let state = states.field("storage").text();
    let smaller = matches!((quantity(have), quantity(asked)), (Some(have), Some(asked)) if have < asked);
    if !smaller {
        return None;
    }
    let pending =
        ["FileSystemResizePending", "Resizing"].into_iter().find_map(|name| view.conditions().alarm(name));
    let note = match (state, pending) {
        (Some(state), _) => format!(" ({state})"),
        (None, Some(condition)) => format!(" ({})", condition.name),
        (None, None) => String::new(),
    };
    Some(Telling::new(clipped(&format!(
        "PVC is being resized from {} to {}{note}",
        have.word().unwrap_or_default(),
        asked.word().unwrap_or_default(),
    ))))
}

/// A resource quantity as a number: `20Gi`, `1.5G`, `21474836480`, `2e3`.
fn quantity(leaf: Leaf<'_>) -> Option<f64> {
    const SUFFIXES: &[(&str, f64)] = &[
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let word = leaf.word()?;
    let (number, scale) = SUFFIXES
        .iter()
        .find_map(|(suffix, scale)| Some((word.strip_suffix(suffix)?, *scale)))
        .unwrap_or((&word, 1.0));
    number.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value * scale)
}

const VOLUME_ROWS: &[Row] = &[
    Row {
        status: Failed,
        reason: "VolumeFailed",
        source: "API reference, volume phase",
        when: "phase Failed: reclaiming the volume failed",
        tell: |view| {
            let said = ["reason", "message"].map(|name| view.status.text(name).unwrap_or_default());
            phase(view, "Failed")
                .then(|| Telling::new(clipped(&format!("PV failed: {}", said.join(" ").trim()))))
        },
    },
    Row {
        status: InProgress,
        reason: "VolumePending",
        source: "API reference, volume phase",
        when: "phase Pending, or none",
        tell: |view| {
            let pending = phase(view, "Pending") || view.status.text("phase").is_none();
            pending.then(|| Telling::new("PV is not available yet. phase: Pending"))
        },
    },
    Row {
        status: Current,
        reason: "VolumeSettled",
        source: "API reference, volume phase",
        when: "otherwise: Available, Bound, Released",
        tell: |view| {
            let phase = view.status.text("phase").unwrap_or_default();
            Some(Telling::new(clipped(&format!("PV is {phase}"))))
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_compared_as_numbers() {
        let read = |text: &str| {
            let json = format!(r#"{{"q":"{text}"}}"#);
            Leaf::document(json.as_bytes(), ["q"]).and_then(|[leaf]| quantity(leaf))
        };
        assert_eq!(read("20Gi"), read("21474836480"));
        assert_eq!(read("1.5k"), Some(1500.0));
        assert_eq!(read("100m"), Some(0.1));
        assert_eq!(read("much"), None);
    }
}
