//! The body of a watch, line by line.

use std::fmt;

use bytes::{Buf, Bytes};
use http_body_util::BodyExt as _;
use memchr::memchr;

use super::transport::{Body, Stream, broken};
use crate::error::{ApiError, ErrorClass};

/// Longest line taken; objects are far smaller.
const LONGEST: usize = 64 << 20;
/// What the buffer for split lines may keep between two of them.
const KEPT: usize = 256 << 10;

/// The lines of one open watch. Dropping it ends the watch and gives its stream back.
///
/// A line within one network chunk is lent without a copy; one that two chunks share is put together
/// in a buffer that is used again.
pub struct Lines {
    body: Body,
    /// What has arrived and was not handed out yet.
    chunk: Bytes,
    /// How much of `chunk` the line lent last takes, its end included.
    lent: usize,
    /// Start of a line whose end has not arrived.
    partial: Vec<u8>,
    /// `partial` was lent and is to be emptied.
    partial_lent: bool,
    longest: usize,
    ended: bool,
    _stream: Stream,
}

impl Lines {
    pub(super) fn new(body: Body, stream: Stream) -> Self {
        Self {
            body,
            chunk: Bytes::new(),
            lent: 0,
            partial: Vec::new(),
            partial_lent: false,
            longest: LONGEST,
            ended: false,
            _stream: stream,
        }
    }

    /// The next line that is not empty, without its end; `None` when the server ended the watch in
    /// good order. May be dropped while waiting: nothing is lost.
    ///
    /// # Errors
    /// `Unreachable` when the connection broke, also in mid-line; `Protocol` when a line is longer
    /// than 64 MiB. After an error the watch is over.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, ApiError> {
        self.release();
        loop {
            match memchr(b'\n', &self.chunk) {
                Some(0) if self.partial.is_empty() => self.chunk.advance(1),
                Some(end) => {
                    self.lent = end + 1;
                    if self.partial.is_empty() {
                        return Ok(self.chunk.get(..end));
                    }
                    self.partial.extend_from_slice(self.chunk.get(..end).unwrap_or_default());
                    self.partial_lent = true;
                    return Ok(Some(&self.partial));
                }
                None if self.ended => return Ok(None),
                None => {
                    self.partial.extend_from_slice(&self.chunk);
                    self.chunk = Bytes::new();
                    if self.partial.len() > self.longest {
                        self.ended = true;
                        self.partial = Vec::new();
                        return Err(ApiError::local(ErrorClass::Protocol, "a line of the watch is too long"));
                    }
                    self.receive().await?;
                }
            }
        }
    }

    /// True when `next` would return a line without waiting.
    pub fn buffered(&self) -> bool {
        self.chunk.get(self.lent..).is_some_and(|rest| memchr(b'\n', rest).is_some())
    }

    /// Takes back what the last call lent.
    fn release(&mut self) {
        self.chunk.advance(self.lent);
        self.lent = 0;
        if self.partial_lent {
            self.partial_lent = false;
            self.partial.clear();
            self.partial.shrink_to(KEPT);
        }
    }

    /// Waits for more bytes or the end.
    async fn receive(&mut self) -> Result<(), ApiError> {
        let frame = match self.body.frame().await {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => {
                self.ended = true;
                self.partial = Vec::new();
                let mut lost = broken(&*error);
                lost.message = format!("lost the connection of the watch: {}", lost.message).into();
                return Err(lost);
            }
            None => {
                self.ended = true;
                if self.partial.is_empty() {
                    return Ok(());
                }
                self.partial = Vec::new();
                return Err(ApiError::local(
                    ErrorClass::Unreachable,
                    "the watch ended in the middle of an event",
                ));
            }
        };
        if let Ok(data) = frame.into_data() {
            self.chunk = data;
        }
        Ok(())
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("ended", &self.ended).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::chunks;

    const TEXT: &str = "{\"a\":1}\n{\"b\":\"long enough to be split\"}\n\n\n{\"c\":3}\n";

    async fn read(lines: &mut Lines) -> Result<Vec<String>, ApiError> {
        let mut all = Vec::new();
        while let Some(line) = lines.next().await? {
            all.push(String::from_utf8(line.to_vec()).unwrap());
        }
        Ok(all)
    }

    fn lines(pieces: &[&str]) -> Lines {
        let pieces = pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece.as_bytes()))).collect();
        Lines::new(chunks(pieces), Stream::default())
    }

    #[tokio::test]
    async fn chunk_boundaries_do_not_matter() {
        let expected: Vec<&str> = TEXT.lines().filter(|line| !line.is_empty()).collect();
        for first in 0..=TEXT.len() {
            for second in first..=TEXT.len() {
                let pieces = [&TEXT[..first], &TEXT[first..second], &TEXT[second..]];
                assert_eq!(read(&mut lines(&pieces)).await.unwrap(), expected, "{first} {second}");
            }
        }
        let bytes: Vec<&str> = (0..TEXT.len()).map(|at| &TEXT[at..=at]).collect();
        assert_eq!(read(&mut lines(&bytes)).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn a_cut_line_is_a_broken_connection() {
        let mut cut = lines(&["{\"a\":1}\n{\"b\"", ":"]);
        assert_eq!(cut.next().await.unwrap().unwrap(), b"{\"a\":1}");
        assert_eq!(cut.next().await.unwrap_err().class, ErrorClass::Unreachable);
        assert_eq!(cut.next().await, Ok(None), "over");
    }

    #[tokio::test]
    async fn a_reset_is_a_broken_connection() {
        let pieces = vec![Ok(Bytes::from_static(b"{}\n")), Err(std::io::Error::other("reset").into())];
        let mut reset = Lines::new(chunks(pieces), Stream::default());
        assert!(reset.next().await.unwrap().is_some());
        let error = reset.next().await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Unreachable);
        assert!(error.message.contains("reset"), "{error}");
    }

    #[tokio::test]
    async fn buffered_tells_whether_a_whole_line_is_there() {
        let mut two = lines(&["a\nb\nc", "\n"]);
        assert!(!two.buffered());
        assert!(two.next().await.unwrap().is_some());
        assert!(two.buffered(), "b");
        assert!(two.next().await.unwrap().is_some());
        assert!(!two.buffered(), "only the start of c");
        assert_eq!(two.next().await.unwrap().unwrap(), b"c");
        assert!(!two.buffered());
        assert_eq!(two.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_line_without_end_is_refused() {
        let mut endless = lines(&["0123456789", "0123456789", "\n"]);
        endless.longest = 15;
        assert_eq!(endless.next().await.unwrap_err().class, ErrorClass::Protocol);
        assert_eq!(endless.next().await, Ok(None));
    }
}
