//! One session: moves messages between a stream and its machine, and tells the driver what comes
//! of it.

use std::{collections::VecDeque, future::ready, sync::Arc};

use osier_core::EntryHash;
use osier_engine::SessionEvent;
use osier_proto::{CloseCode, FailureReason, Moved, Session, SessionOutput};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::mpsc,
    time::sleep_until,
};

use super::{
    stream::{Exchanged, Wire},
    teller::Teller,
};
use crate::{limit::OUTBOX_BYTES_MAX, shared::Shared};

/// What the driver tells a session.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    /// A batch is on disk, or is not.
    Durable {
        /// The session's number for it.
        batch: u64,
        /// Whether it is.
        ok: bool,
        /// Those of its entries that do not count.
        withheld: Vec<EntryHash>,
    },
    /// End.
    Cancel(FailureReason),
}

/// A machine as the tasks hold it.
pub(crate) type Machine = Box<dyn Session + Send>;

/// Drives one machine over one stream.
pub(crate) struct Runner {
    machine: Machine,
    wire: Wire,
    orders: mpsc::Receiver<Order>,
    teller: Teller,
    net: Arc<Shared>,
    /// For the driver, oldest first. While any wait, the stream is not read.
    told: VecDeque<SessionEvent>,
    code: CloseCode,
    /// Whether a whole message may be waiting in what was read.
    unread: bool,
    told_closed: bool,
}

impl Runner {
    /// A session at its start; `wire` may already hold what followed the hello.
    pub(crate) fn new(
        machine: Machine,
        wire: Wire,
        orders: mpsc::Receiver<Order>,
        teller: Teller,
    ) -> Self {
        Self {
            machine,
            wire,
            orders,
            net: Arc::clone(teller.net()),
            teller,
            told: VecDeque::new(),
            code: CloseCode::Cancelled,
            unread: true,
            told_closed: false,
        }
    }

    /// Runs to the machine's end and closes the stream.
    pub(crate) async fn run(mut self) {
        let mut orders_open = true;
        loop {
            if self.has_work() {
                blocking(|| self.turn());
            }
            self.drain();
            if self.machine.is_over() && self.told.is_empty() {
                break;
            }
            let wake = self.machine.deadline().map(|at| self.net.clock.wake_at(at));
            let reads = self.reads();
            let writes = self.wire.waiting_bytes() > 0;
            tokio::select! {
                biased;
                () = self.teller.tell_next(&mut self.told), if !self.told.is_empty() => {}
                order = self.orders.recv(), if orders_open => {
                    orders_open = order.is_some();
                    blocking(|| self.obey(order));
                }
                () = sleep_until(wake.unwrap_or_else(tokio::time::Instant::now)),
                    if wake.is_some() => {
                    let now = self.net.clock.at();
                    blocking(|| self.machine.on_time(now));
                }
                exchanged = self.wire.exchange(reads, writes) => self.exchanged(exchanged),
                () = ready(()), if self.machine.has_work() => {
                    let now = self.net.clock.at();
                    blocking(|| self.machine.work(now));
                }
            }
            if self.net.arrivals.is_closed() {
                return self.wire.abort(CloseCode::Cancelled);
            }
        }
        self.wire.close(self.code).await;
    }

    /// Bytes have moved: the machine counts them, for a large message may take its time.
    fn exchanged(&mut self, exchanged: Exchanged) {
        match exchanged {
            Exchanged::Read => self.unread = true,
            Exchanged::Wrote(bytes) => {
                let waiting = self.wire.waiting_bytes();
                let moved = Moved::Wrote { bytes, waiting };
                self.machine.stream_moved(moved, self.net.clock.at());
            }
            Exchanged::End => {}
        }
    }

    /// Whether the stream should be read: not while what was read waits for the disk, for the
    /// driver, or for the peer to take answers.
    fn reads(&self) -> bool {
        !self.unread && !self.wire.has_ended() && self.takes_more()
    }

    fn takes_more(&self) -> bool {
        self.machine.wants_input()
            && self.told.is_empty()
            && self.wire.waiting_bytes() < OUTBOX_BYTES_MAX
    }

    /// Whether a turn would do more than take what the machine says.
    fn has_work(&self) -> bool {
        let feeds = self.unread && self.takes_more();
        let closes = self.wire.has_ended() && !self.told_closed;
        let pulls = self.wire.waiting_bytes() == 0 && !self.wire.is_deaf();
        feeds || closes || pulls
    }

    /// Feeds the machine with what was read, takes what it says, and pulls bulk when nothing else
    /// waits to be written. May verify signatures and read the disk.
    fn turn(&mut self) {
        self.drain();
        while self.unread && self.takes_more() {
            let now = self.net.clock.at();
            match self.wire.next_message() {
                Ok(Some(message)) => self.machine.handle(message, now),
                Ok(None) => {
                    self.unread = false;
                    let partial = self.wire.partial_bytes();
                    self.machine.stream_moved(Moved::Read { partial }, now);
                }
                Err(error) => {
                    self.unread = false;
                    self.machine.fault(error.into(), now);
                }
            }
            self.drain();
        }
        if self.wire.has_ended() && !self.unread && !self.told_closed {
            self.told_closed = true;
            self.machine.stream_closed(self.net.clock.at());
            self.drain();
        }
        if self.wire.waiting_bytes() == 0 && !self.wire.is_deaf() {
            if let Some(message) = self.machine.poll_bulk(self.net.clock.at()) {
                self.wire.push(&message);
            }
            self.drain();
        }
    }

    /// Does as told. Without orders to come, the driver has seen the end or has given the session
    /// up.
    fn obey(&mut self, order: Option<Order>) {
        let now = self.net.clock.at();
        match order {
            Some(Order::Durable {
                batch,
                ok,
                withheld,
            }) => {
                self.machine.withheld(withheld);
                self.machine.durable(batch, ok, now);
            }
            Some(Order::Cancel(reason)) => self.machine.cancel(reason, now),
            None if self.teller.has_ended() => {}
            None => self.machine.cancel(FailureReason::Cancelled, now),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                SessionOutput::Send(message) => self.wire.push(&message),
                SessionOutput::Started(started) => self.told.push_back(SessionEvent::Started {
                    session: started.session,
                    mode: started.mode,
                    summary: started.summary,
                    role: started.role,
                    token_unserviceable: started.token_unserviceable,
                }),
                SessionOutput::Ingest(ingest) => self.told.push_back(SessionEvent::Ingest {
                    batch: ingest.batch,
                    entries: ingest.entries,
                    token: ingest.token,
                }),
                SessionOutput::Progress { received, expected } => self
                    .told
                    .push_back(SessionEvent::Progress { received, expected }),
                SessionOutput::ClientEnded(end) => {
                    self.code = end.close_code();
                    self.told.push_back(SessionEvent::ClientEnded(end));
                }
                SessionOutput::ProviderEnded(end) => {
                    self.code = end.close_code();
                    self.told.push_back(SessionEvent::ProviderEnded(end));
                }
            }
        }
    }
}

/// Runs what may read the disk or verify thousands of signatures without holding up other tasks.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}
