//! Bodies that go wrong on the way.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::answers;
use crate::direct::BoxError;
use crate::fault::{Ending, Fault};

type Body = UnsyncBoxBody<Bytes, BoxError>;
type Out = Sender<Bytes, BoxError>;

/// Longer than any client waits for the rest of an answer.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// These bytes, then a reset of the connection.
pub(super) fn cut(start: Bytes, reset: CancellationToken) -> Body {
    let (mut out, body) = Channel::<Bytes, BoxError>::new(1);
    tokio::spawn(async move {
        let _ = out.send_data(start).await;
        // The bytes are on their way before the reset.
        sleep(Duration::from_millis(20)).await;
        reset.cancel();
    });
    body.boxed_unsync()
}

/// A watch with this done to it.
pub(super) fn disturbed(body: Incoming, fault: Fault, reset: CancellationToken) -> Body {
    let (out, relayed) = Channel::<Bytes, BoxError>::new(16);
    tokio::spawn(relay(body, out, fault, reset));
    relayed.boxed_unsync()
}

async fn relay(mut body: Incoming, mut out: Out, fault: Fault, reset: CancellationToken) {
    let (mut left, time, ending) = match fault {
        Fault::Watch { lines, time, ending } => (lines, time, Some(ending)),
        Fault::At(_, ending) => (u64::MAX, FOR_EVER, Some(ending)),
        _ => (u64::MAX, FOR_EVER, None),
    };
    let over = Instant::now() + time;
    let mut buffer = BytesMut::new();
    loop {
        while let Some(line) = next_line(&mut buffer) {
            let fatal = matches!(fault, Fault::At(text, _) if has(&line, text));
            let Some(rest) = left.checked_sub(1).filter(|_| !fatal) else {
                return end(out, ending, &line, &reset).await;
            };
            left = rest;
            if let Fault::Slow(time) = fault {
                sleep(time).await;
            }
            for _ in 0..1 + u32::from(fault == Fault::Twice) {
                if out.send_data(line.clone()).await.is_err() {
                    return;
                }
            }
        }
        tokio::select! {
            () = sleep_until(over) => return end(out, ending, &Bytes::new(), &reset).await,
            () = reset.cancelled() => return,
            frame = body.frame() => match frame {
                None => return,
                Some(Err(error)) => return out.abort(error.into()),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        buffer.extend_from_slice(&data);
                    }
                }
            },
        }
    }
}

fn has(line: &[u8], text: &str) -> bool {
    line.windows(text.len()).any(|part| part == text.as_bytes())
}

/// A line with its end.
fn next_line(buffer: &mut BytesMut) -> Option<Bytes> {
    let end = buffer.iter().position(|byte| *byte == b'\n')?;
    Some(buffer.split_to(end + 1).freeze())
}

/// `line` would have come next.
async fn end(mut out: Out, ending: Option<Ending>, line: &Bytes, reset: &CancellationToken) {
    let event = |object: serde_json::Value| {
        Bytes::from(format!("{}\n", serde_json::json!({ "type": "ERROR", "object": object })))
    };
    let broken = Bytes::from_static(b"{\"type\":\"MODIFIED\",\"object\":{\"kind\"\n");
    let last = match ending {
        None | Some(Ending::Clean) => Bytes::new(),
        Some(Ending::MidLine) if line.is_empty() => Bytes::from_static(b"{\"type\":\"ADD"),
        Some(Ending::MidLine) => line.slice(..line.len() / 2),
        Some(Ending::StreamReset) => return out.abort("the stream is reset".into()),
        Some(Ending::ConnectionReset) => return reset.cancel(),
        Some(Ending::Expired) => event(answers::expired_event()),
        Some(Ending::TooLargeVersion) => event(answers::too_large_event()),
        Some(Ending::OneBadLine) => broken,
        Some(Ending::BadLines) => broken.repeat(3).into(),
    };
    let _ = out.send_data(last).await;
    // What is not an end in itself is followed by the end: nothing may be left out in silence.
    sleep(Duration::from_millis(20)).await;
}
