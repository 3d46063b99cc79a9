//! Answers that come compressed.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use flate2::write::GzDecoder;
use http::Response;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body::Frame;
use http_body_util::BodyExt as _;

use super::transport::{Body, BoxError};

/// The answer as it was before it was compressed, part by part as it arrives.
pub(super) fn inflated(mut answer: Response<Body>) -> Response<Body> {
    if answer.headers().get(CONTENT_ENCODING).is_none_or(|encoding| encoding != "gzip") {
        return answer;
    }
    answer.headers_mut().remove(CONTENT_ENCODING);
    answer.headers_mut().remove(CONTENT_LENGTH);
    answer.map(|body| Inflate { body, decoder: Some(GzDecoder::new(Vec::new())) }.boxed_unsync())
}

struct Inflate {
    body: Body,
    /// `None` at the end.
    decoder: Option<GzDecoder<Vec<u8>>>,
}

impl http_body::Body for Inflate {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            let Some(decoder) = &mut self.decoder else { return Poll::Ready(None) };
            // What is ready is handed out before more is read.
            if !decoder.get_ref().is_empty() {
                let ready = std::mem::take(decoder.get_mut());
                return Poll::Ready(Some(Ok(Frame::data(ready.into()))));
            }
            let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
            let Some(decoder) = &mut self.decoder else { return Poll::Ready(None) };
            let result = match frame.transpose()?.map(Frame::into_data) {
                Some(Ok(data)) => decoder.write_all(&data).and_then(|()| decoder.flush()),
                Some(Err(_)) => continue,
                None => {
                    let whole = self.decoder.take().map_or(Ok(Vec::new()), GzDecoder::finish);
                    return Poll::Ready(match whole {
                        Ok(rest) if rest.is_empty() => None,
                        Ok(rest) => Some(Ok(Frame::data(rest.into()))),
                        Err(error) => Some(Err(unreadable(&error))),
                    });
                }
            };
            if let Err(error) = result {
                self.decoder = None;
                return Poll::Ready(Some(Err(unreadable(&error))));
            }
        }
    }
}

fn unreadable(error: &io::Error) -> BoxError {
    format!("the compressed answer is broken or cut off: {error}").into()
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::cluster::testing::chunks;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn answer(pieces: &[&[u8]]) -> Response<Body> {
        let mut answer =
            Response::new(chunks(pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece))).collect()));
        answer.headers_mut().insert(CONTENT_ENCODING, "gzip".parse().unwrap());
        answer
    }

    #[tokio::test]
    async fn an_answer_is_the_same_wherever_it_was_cut_and_an_error_when_its_end_is_missing() {
        let text = b"{\"items\":[1,2,3]}".repeat(20);
        let packed = gzip(&text);
        for cut in 0..packed.len() {
            let (start, end) = packed.split_at(cut);
            let whole = inflated(answer(&[start, end])).into_body().collect().await.unwrap();
            assert_eq!(whole.to_bytes(), text, "cut at {cut}");
            assert!(inflated(answer(&[start])).into_body().collect().await.is_err(), "nothing after {cut}");
        }
    }

    #[tokio::test]
    async fn what_is_not_compressed_is_left_alone() {
        let plain = Response::new(chunks(vec![Ok(Bytes::from_static(b"plain"))]));
        assert_eq!(inflated(plain).into_body().collect().await.unwrap().to_bytes(), "plain");
    }

    #[tokio::test]
    async fn a_small_answer_that_would_grow_without_measure_arrives_in_parts() {
        let packed = gzip(&vec![b' '; 64 << 20]);
        assert!(packed.len() < 1 << 20);
        let pieces: Vec<&[u8]> = packed.chunks(4 << 10).collect();
        let mut body = inflated(answer(&pieces)).into_body();
        let mut largest = 0;
        while let Some(frame) = body.frame().await {
            largest = largest.max(frame.unwrap().into_data().unwrap().len());
        }
        assert!(largest < 8 << 20, "{largest} B at once");
    }
}
