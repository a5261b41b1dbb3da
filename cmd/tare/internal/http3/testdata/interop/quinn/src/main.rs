//! An HTTP/3 server on quinn and h3, for the test of interoperation in internal/http3.
//!
//! Usage: h3-quinn-server PORT CERT KEY [retry]
//!
//! GET / answers 1,000 bytes; POST / answers the body; /reset resets the stream instead of an answer;
//! /goaway sends GOAWAY with its answer.
//! The keys of stateless resets and of connection ids are fixed, so that a server that is started again resets the connections
//! of the one before.

use std::{net::SocketAddr, sync::Arc};

use bytes::{Buf, Bytes, BytesMut};
use h3::server::Connection;
use quinn::crypto::rustls::QuicServerConfig;
use rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer};

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().collect();
    let address: SocketAddr = format!("127.0.0.1:{}", args[1]).parse()?;
    let certificates = CertificateDer::pem_file_iter(&args[2])?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&args[3])?;
    let retry = args.get(4).is_some_and(|a| a == "retry");
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[7; 64]);
    let mut endpoint_config = quinn::EndpointConfig::new(Arc::new(reset_key));
    endpoint_config
        .cid_generator(|| Box::new(quinn_proto::HashedConnectionIdGenerator::from_key(7)));
    let endpoint = quinn::Endpoint::new(
        endpoint_config,
        Some(config),
        std::net::UdpSocket::bind(address)?,
        Arc::new(quinn::TokioRuntime),
    )?;
    while let Some(incoming) = endpoint.accept().await {
        if retry && !incoming.remote_address_validated() {
            let _ = incoming.retry();
            continue;
        }
        tokio::spawn(async move {
            if let Err(err) = serve(incoming).await {
                eprintln!("{err}");
            }
        });
    }
    Ok(())
}

/// Answers the requests of a connection until it ends.
async fn serve(incoming: quinn::Incoming) -> Result<(), Error> {
    let transport = incoming.await?;
    let mut connection: Connection<_, Bytes> =
        Connection::new(h3_quinn::Connection::new(transport.clone())).await?;
    while let Some(resolver) = connection.accept().await? {
        let (request, mut stream) = resolver.resolve_request().await?;
        match request.uri().path() {
            "/reset" => {
                stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR);
                continue;
            }
            "/goaway" => connection.shutdown(0).await?,
            _ => {}
        }
        tokio::spawn(async move {
            let mut body = BytesMut::new();
            while let Some(mut part) = stream.recv_data().await? {
                body.extend_from_slice(&part.copy_to_bytes(part.remaining()));
            }
            if body.is_empty() {
                body.resize(1000, b'x');
            }
            let head = http::Response::builder()
                .header("content-length", body.len())
                .body(())?;
            stream.send_response(head).await?;
            stream.send_data(body.freeze()).await?;
            stream.finish().await?;
            Ok::<(), Error>(())
        });
    }
    transport.closed().await; // by the client, once it has all answers
    Ok(())
}
