//! Commits on their way to disk, and back.

use osier_core::Role;
use osier_engine::{BatchId, Commit, DiskError, Input, TopicReport};
use osier_proto::Source;
use osier_store::Unheard;

use super::{Work, World};
use crate::{
    clock::MS,
    disk::failed,
    event::{Event, Life, NodeIndex},
};

impl World {
    pub(super) fn commit(&mut self, index: NodeIndex, commit: Commit) {
        self.trace.note(
            self.now,
            index,
            format_args!(
                "-> commit {:?}: {} entries, token {}",
                commit.batch,
                commit.entries.len(),
                commit.token.is_some()
            ),
        );
        let up = self.nodes[index]
            .up
            .as_mut()
            .expect("a running engine commits");
        up.disk.push(commit);
        self.checks.disk_queue(self.now, index, up.disk.len());
        self.start_write(index);
    }

    fn start_write(&mut self, index: NodeIndex) {
        let life = self.nodes[index].life;
        let Some(up) = self.nodes[index].up.as_mut() else {
            return;
        };
        if up.disk.start() {
            let takes = self.dice.disk.range(0, self.knobs.disk_ms * 1_000) * MS / 1_000 + MS / 20;
            self.queue
                .put(self.now + takes, Event::DiskDone { node: index, life });
        }
    }

    pub(super) fn disk_done(&mut self, index: NodeIndex, life: Life) {
        if self.nodes[index].life != life || self.nodes[index].up.is_none() {
            return;
        }
        let results = self.write_group(index);
        let late = self.dice.disk.range(0, self.knobs.report_ms) * MS;
        // The engine learns of transactions in their order.
        let temper = &mut self.tempers[index];
        temper.reported_at = temper.reported_at.max(self.now + late);
        let at = temper.reported_at;
        let event = Event::Reported {
            node: index,
            life,
            results,
        };
        self.queue.put(at, event);
        self.start_write(index);
    }

    fn write_group(
        &mut self,
        index: NodeIndex,
    ) -> Vec<(BatchId, Result<Vec<TopicReport>, DiskError>)> {
        let node = &mut self.nodes[index];
        let up = node.up.as_mut().expect("only a running node writes");
        let commits = up.disk.finish();
        let broken = self.dice.disk.below(100_000) < self.knobs.disk_fail_pcm;
        if broken || self.tempers[index].full_until > self.now {
            self.trace.note(
                self.now,
                index,
                format_args!("{} commits fail", commits.len()),
            );
            return failed(&commits, "the disk is full");
        }
        let mut results = node.vault.write(&commits);
        let kept = results.iter().any(|(_, result)| result.is_ok());
        self.checks.note_commits(index, &commits, kept);
        for commit in commits.iter().filter(|commit| !commit.control.is_empty()) {
            self.checks.heeded(self.now, index, commit.topic);
        }
        self.checks.stored(self.now, index, &results);
        if node.spec.role == Role::Replay {
            self.prune(index, &commits, &mut results);
        }
        results
    }

    /// A ring drops what it does not keep, as part of the same write.
    fn prune(
        &mut self,
        index: NodeIndex,
        commits: &[Commit],
        results: &mut [(BatchId, Result<Vec<TopicReport>, DiskError>)],
    ) {
        let node = &self.nodes[index];
        let wall = node.clock.read(self.now).wall.as_millis();
        for report in results
            .iter_mut()
            .flat_map(|(_, result)| result.iter_mut().flatten())
        {
            let mut of_topic = commits.iter().filter(|it| it.topic == report.topic);
            let last = of_topic.next_back().and_then(|commit| commit.unheard);
            let unheard = last.map(|(author, from)| Unheard { author, from });
            let pruned = node
                .vault
                .store
                .prune(report.topic, wall, unheard)
                .expect("memory is written");
            let view = node
                .vault
                .store
                .view(report.topic)
                .expect("memory can be read");
            report.summary = pruned.summary;
            report.holes = view.hole_count();
            self.checks.pruned(index, report.topic, &pruned.summary);
        }
    }

    pub(super) fn reported(
        &mut self,
        index: NodeIndex,
        life: Life,
        results: Vec<(BatchId, Result<Vec<TopicReport>, DiskError>)>,
    ) {
        if self.nodes[index].life != life {
            return;
        }
        for (batch, result) in results {
            let input = Input::Durable { batch, result };
            self.work.push_back(Work::Tell(index, Box::new(input)));
        }
    }

    /// Writes all that waits at once, as an orderly stop does.
    pub(super) fn flush(&mut self, index: NodeIndex) {
        let life = self.nodes[index].life;
        loop {
            let results = self.write_group(index);
            self.reported(index, life, results);
            self.settle();
            let up = self.nodes[index]
                .up
                .as_mut()
                .expect("it is stopping, not stopped");
            if !up.disk.start() {
                return;
            }
        }
    }
}
