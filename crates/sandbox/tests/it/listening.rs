//! The server on a socket.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use sandbox::Sandbox;

#[tokio::test]
async fn clients_of_both_protocols_are_served() {
    for http2 in [false, true] {
        let sandbox = Sandbox::builder().build();
        let server = sandbox.listen("127.0.0.1:0").await.unwrap();
        let client: Client<_, Full<Bytes>> =
            Client::builder(TokioExecutor::new()).http2_only(http2).build_http();
        let url = |path: &str| format!("{}{path}", server.url()).parse().unwrap();
        let answer = client.get(url("/api/v1/namespaces/default")).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.version() == http::Version::HTTP_2, http2);
        answer.into_body().collect().await.unwrap();
        let mut watch = client.get(url("/api/v1/namespaces?watch=1")).await.unwrap().into_body();
        let first = watch.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(first.starts_with(b"{\"type\":\"ADDED\""));
        assert_eq!((sandbox.open_watches(""), server.connections_open()), (1, server.connections_made()));
        server.cut();
        assert!(watch.frame().await.is_none_or(|frame| frame.is_err()));
        for _ in 0..100 {
            if sandbox.open_watches("") == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(sandbox.open_watches(""), 0);
        assert_eq!(client.get(url("/healthz")).await.unwrap().status(), 200);
    }
}
