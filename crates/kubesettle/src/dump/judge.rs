//! One verdict per object, and the same as the events of a run that only looks.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use kstatus::{History, Policy, Status, Surroundings, Verdict};

use super::{Dump, DumpOptions, Judged, Recorded};
use crate::error::ExitClass;
use crate::event::{Body, Conclusion, Event, Operation, Start, rule_warnings};

impl Dump {
    /// The verdict on every object, in the order of the input.
    pub fn judge(&self, options: &DumpOptions) -> Vec<Judged<'_>> {
        let mut patient = options.policy.clone();
        patient.unknown_status_grace = u64::MAX;
        let verdict = |object| self.verdict(object, options, &patient);
        self.objects.iter().map(|object| Judged { object, verdict: verdict(object) }).collect()
    }

    fn verdict(&self, object: &Recorded, options: &DumpOptions, patient: &Policy) -> Verdict {
        let Some(digest) = &object.digest else {
            return Verdict::unknown("Not an object of Kubernetes: it has no kind");
        };
        let children = self.around.descendants(&self.objects, digest);
        let events = self.around.events(object, &children);
        let grace = i64::try_from(options.policy.unknown_status_grace).unwrap_or(i64::MAX);
        let lived = object.newest.zip(digest.created()).map(|(newest, created)| newest.millis_since(created));
        let policy = if lived.is_some_and(|lived| lived >= grace) { &options.policy } else { patient };
        let around = Surroundings {
            children: &children,
            events: &events,
            facts: &self.facts,
            now: self.clock,
            policy,
        };
        self.rulebook.assess(digest, &around, &mut History::default())
    }

    /// What a run that looks once would tell of these verdicts, at the moment of the dump. Of several
    /// states of one object all are told; the last one counts.
    pub fn events(&self, judged: &[&Judged<'_>]) -> Vec<Event> {
        let namespaces: HashSet<&str> = judged.iter().map(|one| one.object.id.namespace()).collect();
        let start = Start {
            operation: Operation::Status,
            dry_run: None,
            set: None,
            objects: judged.len(),
            namespaces: namespaces.len() - usize::from(namespaces.contains("")),
        };
        let mut bodies = vec![Body::Start(start)];
        for Judged { object, verdict } in judged {
            bodies.extend(rule_warnings(&object.id, verdict).map(|(_, warning)| warning));
            bodies.push(Body::Verdict { id: object.id.clone(), verdict: verdict.clone() });
        }
        for Judged { object, verdict } in judged {
            let conclusion = match verdict.status {
                Status::Current => Conclusion::Settled,
                Status::Failed => Conclusion::Failed,
                Status::Unknown => Conclusion::Unknown,
                _ => Conclusion::NotAwaited,
            };
            bodies.push(Body::Concluded { id: object.id.clone(), conclusion });
        }
        let millis = u64::try_from(self.clock.as_millis()).unwrap_or_default();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        let numbered = bodies.into_iter().zip(0_u64..);
        numbered.map(|(body, seq)| Event { seq, elapsed: Duration::ZERO, time, body }).collect()
    }
}

/// How a look at these verdicts ends.
pub fn exit_class<'a>(judged: impl IntoIterator<Item = &'a Verdict>) -> ExitClass {
    judged.into_iter().fold(ExitClass::Ok, |class, verdict| {
        class.or(match verdict.status {
            Status::Failed => ExitClass::Failed,
            Status::Unknown => ExitClass::Unknown,
            _ => ExitClass::Ok,
        })
    })
}
