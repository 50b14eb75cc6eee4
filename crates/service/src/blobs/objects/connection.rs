//! Connections with an object storage: HTTP/1.1, over TLS where it is on another machine.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::Uri;
use http_body_util::BodyExt;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;

/// Time to connect, and to agree on TLS.
const CONNECT: Duration = Duration::from_secs(5);
/// Time from the beginning of a request to that of its answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Time after which a connection that is not used is closed.
const IDLE: Duration = Duration::from_secs(30);

/// Makes clients of a storage; without certificates to trust they take no TLS.
#[derive(Debug)]
pub(super) struct Connector(pub(super) Option<Arc<ClientConfig>>);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(Dialer(self.0.clone()));
        Ok(HttpClient::new(Requests(client)))
    }
}

/// Client of a storage.
#[derive(Debug)]
struct Requests(Client<Dialer, HttpRequestBody>);

#[async_trait::async_trait]
impl HttpService for Requests {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let late = |_| HttpError::new(HttpErrorKind::Timeout, io::Error::from(io::ErrorKind::TimedOut));
        let answer = timeout(ANSWER, self.0.request(request)).await.map_err(late)?.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted };
            HttpError::new(kind, error)
        })?;
        let broken = |error| HttpError::new(HttpErrorKind::Interrupted, error);
        Ok(answer.map(|body| HttpResponseBody::new(body.map_err(broken))))
    }
}

/// Connects with machines.
#[derive(Clone, Debug)]
struct Dialer(Option<Arc<ClientConfig>>);

impl Service<Uri> for Dialer {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let trust = self.0.clone();
        Box::pin(async move {
            timeout(CONNECT, dial(&uri, trust)).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
        })
    }
}

/// Connects with the machine of an address.
async fn dial(uri: &Uri, trust: Option<Arc<ClientConfig>>) -> io::Result<Stream> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let host = uri.host().ok_or_else(invalid)?.trim_matches(['[', ']']);
    let is_encrypted = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    let trust = if is_encrypted { Some(trust.ok_or_else(invalid)?) } else { None };
    let Some(trust) = trust else { return Ok(Stream(TokioIo::new(Box::new(stream)))) };
    let name = ServerName::try_from(host.to_owned()).map_err(|_| invalid())?;
    let stream = TlsConnector::from(trust).connect(name, stream).await?;
    Ok(Stream(TokioIo::new(Box::new(stream))))
}

/// What bytes come from and go to.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<W: AsyncRead + AsyncWrite + Send + Unpin> Wire for W {}

/// Connection with a machine.
struct Stream(TokioIo<Box<dyn Wire>>);

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
