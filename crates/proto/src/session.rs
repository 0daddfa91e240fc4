//! What both session machines have in common for those who drive them.

use osier_core::{EntryHash, Instant};

use crate::{
    fault::Fault, marker::FailureReason, message::Message, output::SessionOutput, timer::Moved,
};

/// A session machine, client or provider.
///
/// A driver gives every input with the present time, drains [`Session::poll`] after each, and
/// calls [`Session::poll_bulk`] whenever the stream has room. It reads the stream only while
/// [`Session::wants_input`], calls [`Session::on_time`] at [`Session::deadline`], and drops the
/// machine once [`Session::is_over`]. After the end every input is ignored (`SES-14`).
///
/// Work of its own that may take long, a machine does in slices: a driver calls [`Session::work`]
/// while [`Session::has_work`], after what is ready to be read, written or timed, so that signs of
/// life go out between them.
///
/// A driver bounds what it has not written yet, and gives no message while over that bound, which
/// is at least [`OUTBOX_BYTES_MIN`](crate::limit::OUTBOX_BYTES_MIN): a peer that asks and does not
/// read must not fill memory, and two honest sides must not wait for each other.
pub trait Session {
    /// Takes the next message of the stream.
    fn handle(&mut self, message: Message, now: Instant);

    /// Bytes of the stream were read, after [`Session::handle`] has had the whole messages among
    /// them, or were taken by the peer: a large message on a slow link is progress, too (`SES-16`).
    fn stream_moved(&mut self, bytes: Moved, now: Instant);

    /// Does a slice of its own work; false when there was none.
    fn work(&mut self, now: Instant) -> bool;

    /// Whether there is work to do.
    fn has_work(&self) -> bool;

    /// Entries of the batch that is reported next were not stored: their authors may not write in
    /// this granted topic, as far as is known (`ENT-43`).
    fn withheld(&mut self, entries: Vec<EntryHash>) {
        let _ = entries;
    }

    /// The outcome of a batch handed out as `Ingest`: durable, or failed.
    fn durable(&mut self, batch: u64, ok: bool, now: Instant);

    /// The peer will send nothing more: its side of the stream ended or was reset.
    fn stream_closed(&mut self, now: Instant);

    /// The stream cannot be read as messages, or a local error concerns this session.
    fn fault(&mut self, fault: Fault, now: Instant);

    /// Ends the session from this side.
    fn cancel(&mut self, reason: FailureReason, now: Instant);

    /// Time has passed; harmless when nothing is due.
    fn on_time(&mut self, now: Instant);

    /// When [`Session::on_time`] is next needed; none after the end.
    fn deadline(&self) -> Option<Instant>;

    /// The next output.
    fn poll(&mut self) -> Option<SessionOutput>;

    /// Whether [`Session::poll`] holds anything.
    fn has_output(&self) -> bool;

    /// The next bulk message, taken only when the stream has room; none while [`Session::poll`]
    /// still holds something to send.
    fn poll_bulk(&mut self, now: Instant) -> Option<Message>;

    /// Whether the stream should be read: not while the disk is behind.
    fn wants_input(&self) -> bool;

    /// Whether the machine is done with the stream, too.
    fn is_over(&self) -> bool;
}
