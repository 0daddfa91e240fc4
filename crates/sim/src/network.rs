//! The network under sessions: links between nodes, connections over links, streams in
//! connections. A stream keeps order and loses nothing until its connection breaks; a cut link
//! holds everything back until it heals or the connection is given up.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use osier_proto::FrameDecoder;

use crate::{
    clock::{MS, SEC, Time},
    dice::Dice,
    event::{Life, NodeIndex},
    swarm::Knobs,
};

/// One direction between two nodes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Link {
    /// How many cuts hold it down.
    pub(crate) cuts: u32,
    /// Since when it is cut.
    pub(crate) cut_at: Time,
    /// Until when it delivers nothing.
    pub(crate) clogged_until: Time,
}

/// A connection for sessions between two nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connection {
    pub(crate) id: u64,
    /// Exported from its key exchange: the same at both ends, new for each connection.
    pub(crate) binding: [u8; 32],
    /// Both ends with the life that each was in.
    pub(crate) ends: [(NodeIndex, Life); 2],
}

/// Who reads one end of a stream.
#[derive(Debug)]
pub(crate) enum Reader {
    /// Nobody yet: the hello is awaited.
    Door(FrameDecoder),
    /// The engine has been asked; what came after the hello waits.
    Asked(FrameDecoder),
    /// A session.
    Session(osier_engine::SessionKey),
    /// Nobody any more.
    Gone,
}

/// One end of a stream and what is on its way to it.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) node: NodeIndex,
    pub(crate) life: Life,
    pub(crate) reader: Reader,
    pub(crate) pieces: VecDeque<(Time, Piece)>,
    /// Bytes written to this end and not read by it.
    pub(crate) unread_bytes: usize,
    last: Time,
    /// Until when the way to it is busy with bytes sent before. Each stream has its own: those of a
    /// link take turns, so a long message on one holds up no other.
    busy_until: Time,
}

/// What travels on a stream.
#[derive(Debug)]
pub(crate) enum Piece {
    Bytes(Bytes),
    /// The other end will write nothing more.
    Fin,
}

/// A stream: end 0 has opened it.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) connection: u64,
    pub(crate) ends: [End; 2],
}

/// Everything between the nodes but gossip.
#[derive(Debug)]
pub(crate) struct Network {
    links: Vec<Vec<Link>>,
    pub(crate) connections: BTreeMap<(NodeIndex, NodeIndex), Connection>,
    pub(crate) streams: BTreeMap<u64, Stream>,
    next: u64,
    pub(crate) dice: Dice,
    delay: Time,
    jitter_ms: u64,
    bytes_per_s: u64,
    pub(crate) window_bytes: usize,
    split_pct: u64,
    pub(crate) idle: Time,
}

impl Network {
    pub(crate) fn new(knobs: &Knobs, dice: Dice) -> Self {
        Self {
            links: Vec::new(),
            connections: BTreeMap::new(),
            streams: BTreeMap::new(),
            next: 0,
            dice,
            delay: knobs.delay_ms * MS,
            jitter_ms: knobs.jitter_ms,
            bytes_per_s: knobs.bandwidth_kib * 1024,
            window_bytes: usize::try_from(knobs.window_kib * 1024).expect("windows are small"),
            split_pct: knobs.split_pct,
            idle: knobs.idle_s * SEC,
        }
    }

    /// Makes room for one more node.
    pub(crate) fn add_node(&mut self) {
        let nodes = self.links.len() + 1;
        self.links.push(Vec::new());
        self.links
            .iter_mut()
            .for_each(|row| row.resize(nodes, Link::default()));
    }

    pub(crate) fn link(&mut self, from: NodeIndex, to: NodeIndex) -> &mut Link {
        &mut self.links[from][to]
    }

    /// Whether something sent now would arrive, both ways.
    pub(crate) fn connects(&self, one: NodeIndex, other: NodeIndex) -> bool {
        self.links[one][other].cuts == 0 && self.links[other][one].cuts == 0
    }

    /// Whether something sent now would arrive.
    pub(crate) fn passes(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.links[from][to].cuts == 0
    }

    /// A delay one way, drawn afresh.
    pub(crate) fn draw_delay(&mut self) -> Time {
        self.delay + self.dice.range(0, self.jitter_ms) * MS + self.dice.below(MS / 4)
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Opens a stream.
    pub(crate) fn open(
        &mut self,
        connection: &Connection,
        opener: NodeIndex,
        key: osier_engine::SessionKey,
    ) -> u64 {
        let id = self.next_id();
        let [one, other] = connection.ends;
        let (mine, theirs) = if one.0 == opener {
            (one, other)
        } else {
            (other, one)
        };
        let end = |(node, life), reader| End {
            node,
            life,
            reader,
            pieces: VecDeque::new(),
            unread_bytes: 0,
            last: 0,
            busy_until: 0,
        };
        let ends = [
            end(mine, Reader::Session(key)),
            end(theirs, Reader::Door(FrameDecoder::new())),
        ];
        let connection = connection.id;
        self.streams.insert(id, Stream { connection, ends });
        id
    }

    /// Writes on a stream towards one of its ends; gives the times at which pieces arrive.
    pub(crate) fn write(
        &mut self,
        now: Time,
        stream: u64,
        to_end: usize,
        piece: Piece,
    ) -> Vec<Time> {
        let mut times = Vec::new();
        let piece = match piece {
            // On a slow link a frame comes bit by bit: a tenth of a second's worth at a time.
            Piece::Bytes(mut bytes) if self.bytes_per_s > 0 => {
                let most = usize::try_from(self.bytes_per_s / 10).unwrap_or(usize::MAX);
                while bytes.len() > most {
                    let first = Piece::Bytes(bytes.split_to(most));
                    times.extend(self.write_piece(now, stream, to_end, first));
                }
                Piece::Bytes(bytes)
            }
            piece => piece,
        };
        let pieces = match piece {
            Piece::Bytes(bytes) if bytes.len() > 8 && self.dice.chance(self.split_pct) => {
                let at = 1 + self.dice.index(bytes.len() - 1);
                vec![
                    Piece::Bytes(bytes.slice(..at)),
                    Piece::Bytes(bytes.slice(at..)),
                ]
            }
            piece => vec![piece],
        };
        for piece in pieces {
            times.extend(self.write_piece(now, stream, to_end, piece));
        }
        times
    }

    fn write_piece(&mut self, now: Time, id: u64, to_end: usize, piece: Piece) -> Option<Time> {
        let delay = self.draw_delay();
        let stream = self.streams.get_mut(&id)?;
        if matches!(stream.ends[to_end].reader, Reader::Gone) {
            return None;
        }
        let (from, to) = (stream.ends[1 - to_end].node, stream.ends[to_end].node);
        let clogged_until = self.links[from][to].clogged_until;
        let bytes = match &piece {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::Fin => 1,
        };
        let busy = (bytes as u64 * SEC)
            .checked_div(self.bytes_per_s)
            .unwrap_or(0);
        let end = &mut stream.ends[to_end];
        end.busy_until = end.busy_until.max(now) + busy;
        let at = (end.busy_until + delay).max(clogged_until).max(end.last);
        end.last = at;
        if let Piece::Bytes(bytes) = &piece {
            end.unread_bytes += bytes.len();
        }
        end.pieces.push_back((at, piece));
        Some(at)
    }

    /// What is written next towards an end does not arrive before a time.
    pub(crate) fn hold_back(&mut self, stream: u64, to_end: usize, until: Time) {
        if let Some(stream) = self.streams.get_mut(&stream) {
            let end = &mut stream.ends[to_end];
            end.last = end.last.max(until);
        }
    }

    /// Whether a piece that is due may be read now; otherwise when to look again, if that is known.
    pub(crate) fn may_read(
        &self,
        now: Time,
        from: NodeIndex,
        to: NodeIndex,
    ) -> Result<(), Option<Time>> {
        let link = &self.links[from][to];
        if link.cuts > 0 {
            Err(None)
        } else if link.clogged_until > now {
            Err(Some(link.clogged_until))
        } else {
            Ok(())
        }
    }

    /// Streams on which something waits that goes from one node to another.
    pub(crate) fn waiting(&self, from: NodeIndex, to: NodeIndex) -> Vec<(u64, usize)> {
        let ends = |(id, stream): (&u64, &Stream)| {
            let to_end = |end: &usize| {
                stream.ends[*end].node == to
                    && stream.ends[1 - end].node == from
                    && !stream.ends[*end].pieces.is_empty()
            };
            [0, 1].into_iter().find(to_end).map(|end| (*id, end))
        };
        self.streams.iter().filter_map(ends).collect()
    }

    /// Forgets streams that nobody reads at either end.
    pub(crate) fn sweep(&mut self, id: u64) {
        let gone = |end: &End| matches!(end.reader, Reader::Gone);
        if self
            .streams
            .get(&id)
            .is_some_and(|s| s.ends.iter().all(gone))
        {
            self.streams.remove(&id);
        }
    }
}

/// The key of a connection between two nodes.
pub(crate) fn pair(one: NodeIndex, other: NodeIndex) -> (NodeIndex, NodeIndex) {
    (one.min(other), one.max(other))
}
