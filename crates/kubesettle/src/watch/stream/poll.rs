//! Single objects asked for again and again, for want of the right to list or watch.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::sleep;

use super::{Change, HubGone, Runner};
use crate::watch::wanted::Sight;
use crate::watch::wire::{self, Undecodable};

/// Pause between two rounds, at first and at most.
const POLL: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

impl Runner {
    pub(super) async fn poll(&mut self) -> Result<(), HubGone> {
        let mut pause = POLL.0;
        let mut seen = HashMap::new();
        loop {
            self.refresh_interest();
            self.changes.push(Change::Begin);
            let mut changed = false;
            let names = self.filter.interest().names.clone();
            let mut failed = None;
            for id in names.iter() {
                let (task, namespace, name) = (&self.task, id.namespace(), id.name());
                match task.cluster.get(&task.resource, namespace, name, task.content).await {
                    Ok(None) => changed |= seen.remove(id).is_some(),
                    Ok(Some(body)) => match wire::item(&String::from_utf8_lossy(&body)) {
                        Ok(item) => {
                            changed |= seen.insert(id.clone(), item.version.clone().into_owned()).as_deref()
                                != Some(&*item.version);
                            self.tell(&item, Sight::Listed);
                        }
                        Err(Undecodable { what, .. }) => {
                            let who = Some((namespace.to_owned(), name.to_owned()));
                            self.unreadable(&Undecodable { what, who });
                        }
                    },
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            match failed {
                None => {
                    self.out_of_touch = false;
                    self.synced().await?;
                }
                Some(error) if error.class.passes() => self.changes.push(Change::Gap(error)),
                Some(error) => {
                    self.changes.push(Change::Stopped(error));
                    return self.flush().await;
                }
            }
            self.flush().await?;
            if self.more_wanted() {
                continue;
            }
            pause = if changed { POLL.0 } else { (pause * 2).min(POLL.1) };
            sleep(pause).await;
        }
    }
}
