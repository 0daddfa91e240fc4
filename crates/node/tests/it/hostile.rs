//! Strangers on the session protocol: nobody else is disturbed.

use iroh::{Endpoint, EndpointAddr, EndpointId, RelayMode, endpoint::presets};
use osier_core::Role;

use crate::support::{
    open, publish, start, store, ticket, ticket_through, topic, wait_held, within,
};

async fn stranger() -> Endpoint {
    Endpoint::builder(presets::Minimal)
        .relay_mode(RelayMode::Disabled)
        .clear_ip_transports()
        .bind_addr("127.0.0.1:0")
        .unwrap()
        .bind()
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_on_the_session_protocol_disturbs_nobody() {
    let archive = start(1, store(1)).await;
    open(&archive, &ticket(), Role::Archive).await;
    let written = publish(&archive, 200, "entry").await;

    let stranger = stranger().await;
    let id = EndpointId::from_bytes(archive.id().as_bytes()).unwrap();
    let address = archive.addresses()[0].parse().unwrap();
    let address = EndpointAddr::new(id).with_ip_addr(address);
    let connection = stranger.connect(address, b"osier/sync/1").await.unwrap();
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xff; 4],
        &[0, 0, 0, 1, 0xff],
        &[0, 0, 0, 0],
        // A length within the bound of frames and over that of a hello.
        &[0, 1, 0, 0, 1, 2, 3],
        // A message that is not a hello.
        &[0, 0, 0, 1, 13],
    ];
    let mut open_streams = Vec::new();
    for bytes in garbage {
        let (mut send, mut recv) = connection.open_bi().await.unwrap();
        send.write_all(bytes).await.unwrap();
        if bytes.len() < 7 {
            let refused = within("a refusal", recv.read_to_end(1024)).await;
            assert!(refused.map_or(true, |said| said.is_empty()));
        }
        open_streams.push((send, recv));
    }
    // Streams without a word, up to the bound, stay open meanwhile.
    for _ in 0..20 {
        let (mut send, recv) = connection.open_bi().await.unwrap();
        send.write_all(&[0]).await.unwrap();
        open_streams.push((send, recv));
    }

    let joiner = start(2, store(2)).await;
    open(&joiner, &ticket_through(&[&archive]), Role::Peer).await;
    let mut events = joiner.events(topic()).await.unwrap();
    wait_held(&joiner, &mut events, *written.last().unwrap()).await;
    assert!(archive.metrics().streams_without_hello >= 5);
    assert_eq!(archive.metrics().sessions_crashed, 0);
}
