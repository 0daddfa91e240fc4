//! How much waits, all clients together, and who is to be woken when it is less.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use crate::peer::Peer;

/// Bytes that may wait. What is read while there is room is let in, so that it can be a frame over.
#[derive(Debug)]
pub(super) struct Room {
    bytes_max: usize,
    bytes: AtomicUsize,
    waiting: Mutex<Vec<Arc<Peer>>>,
}

/// Bytes that wait; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    /// Room for so many bytes.
    pub(super) fn of(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            bytes: AtomicUsize::new(0),
            waiting: Mutex::default(),
        }
    }

    /// Takes room, whether or not there is any.
    pub(super) fn hold(room: &Arc<Self>, bytes: usize) -> Held {
        room.bytes.fetch_add(bytes, Ordering::SeqCst);
        Held {
            room: Arc::clone(room),
            bytes,
        }
    }

    /// Whether there is room; if not, the peer is woken when there is.
    pub(super) fn has_room(&self, peer: &Arc<Peer>) -> bool {
        if self.bytes.load(Ordering::SeqCst) < self.bytes_max {
            return true;
        }
        let mut waiting = self.lock();
        if waiting.iter().all(|it| it.id != peer.id) {
            waiting.push(Arc::clone(peer));
        }
        drop(waiting);
        // It may have become free before the peer was on the list.
        self.bytes.load(Ordering::SeqCst) < self.bytes_max
    }

    fn free(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Ordering::SeqCst);
        if before >= self.bytes_max && before - bytes < self.bytes_max {
            let woken = std::mem::take(&mut *self.lock());
            for peer in woken {
                peer.wake();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Peer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.room.free(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use osier_nostr::{ConnectionId, nip::nip17::Viewer};

    use super::*;

    #[test]
    fn who_has_to_wait_is_woken_when_there_is_room() {
        let room = Arc::new(Room::of(100));
        let peer = Arc::new(Peer::new(ConnectionId(1), Viewer::default(), 0));
        let first = Room::hold(&room, 60);
        assert!(room.has_room(&peer));
        let second = Room::hold(&room, 60);
        assert!(!room.has_room(&peer) && !room.has_room(&peer));
        assert_eq!(room.lock().len(), 1);
        drop(first);
        assert!(room.has_room(&peer) && room.lock().is_empty());
        drop(second);
        assert_eq!(room.bytes.load(Ordering::SeqCst), 0);
    }
}
