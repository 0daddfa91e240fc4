//! A socket that gathers small writes, and holds no buffer while there is nothing to write.
//!
//! The WebSocket library writes frame by frame and keeps its buffers for life. Here frames are
//! gathered up to a bound, written at once, and the memory is given back: an idle connection costs
//! nothing for writing.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limit::WRITE_BYTES;

/// A stream whose writes wait for a flush, or for [`WRITE_BYTES`].
#[derive(Debug)]
pub(crate) struct Gather<S> {
    stream: S,
    waiting: Vec<u8>,
    /// How many of them have been written.
    written: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Gather<S> {
    /// Nothing waits.
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            waiting: Vec::new(),
            written: 0,
        }
    }

    /// Whether something waits.
    pub(crate) fn is_waiting(&self) -> bool {
        self.written < self.waiting.len()
    }

    fn poll_write_waiting(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.is_waiting() {
            let rest = &self.waiting[self.written..];
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        self.waiting = Vec::new();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gather<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Gather<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.waiting.len() >= WRITE_BYTES {
            ready!(self.poll_write_waiting(cx))?;
        }
        self.waiting.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_waiting(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_waiting(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn small_writes_go_together_and_the_buffer_goes_away() {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let mut gather = Gather::new(near);
        for _ in 0..100 {
            gather.write_all(b"0123456789").await.unwrap();
        }
        assert!(gather.is_waiting());
        gather.flush().await.unwrap();
        assert_eq!(gather.waiting.capacity(), 0);
        let mut read = vec![0; 1_000];
        far.read_exact(&mut read).await.unwrap();
        assert!(read.starts_with(b"01234567890"));
    }

    #[tokio::test]
    async fn what_waits_has_a_bound() {
        let (near, mut far) = tokio::io::duplex(1_000);
        let mut gather = Gather::new(near);
        let chunk = vec![7; 40_000];
        gather.write_all(&chunk).await.unwrap();
        gather.write_all(&chunk).await.unwrap();
        assert_eq!(gather.waiting.len(), 80_000);
        // A third has to wait for the reader.
        let third = tokio::time::timeout(std::time::Duration::ZERO, gather.write_all(&chunk));
        assert!(third.await.is_err());
        let reader = tokio::spawn(async move {
            let mut read = Vec::new();
            far.read_to_end(&mut read).await.map(|_| read.len())
        });
        gather.write_all(&chunk).await.unwrap();
        gather.shutdown().await.unwrap();
        assert_eq!(reader.await.unwrap().unwrap(), 120_000);
    }
}
