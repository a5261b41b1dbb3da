// Package overquic carries the load generator's requests over HTTP/3, with quic-go: a
// socket of UDP and a connection of QUIC for each connection.
package overquic

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/tarebench/tare/load"
)

// Carry carries requests to a server that is called host.
func Carry(host string) load.Carry {
	// Or quic-go logs that the system's buffers for UDP are small.
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	headers := &headerSets{made: map[*[2]string]headerSet{}}
	return func(ctx context.Context, addr string, config *tls.Config) (load.Carrier, int64, bool, error) {
		to, err := net.ResolveUDPAddr("udp", addr)
		if err != nil {
			return nil, 0, false, err
		}
		socket, err := net.ListenUDP("udp", nil)
		if err != nil {
			return nil, 0, false, err
		}
		c := &carrier{host: host, headers: headers, socket: socket, transport: &quic.Transport{Conn: socket}, buf: make([]byte, 16<<10)}
		began := time.Now()
		c.conn, err = c.transport.Dial(ctx, to, config, &quic.Config{
			Versions:             []quic.Version{quic.Version1},
			HandshakeIdleTimeout: load.MaxDuration, // ctx ends it
			MaxIdleTimeout:       load.MaxDuration,
			KeepAlivePeriod:      10 * time.Second, // for answers that take long, and pauses
			MaxIncomingStreams:   -1,
		})
		if err != nil {
			c.release()
			if ctx.Err() != nil {
				err = errors.New("no handshake of QUIC in time")
			}
			return nil, 0, false, err
		}
		took := time.Since(began)
		c.client = (&http3.Transport{DisableCompression: true, MaxResponseHeaderBytes: load.MaxHead}).NewClientConn(c.conn)
		return c, int64(took), c.conn.ConnectionState().TLS.DidResume, nil
	}
}

// carrier is one connection.
type carrier struct {
	host      string
	headers   *headerSets
	socket    *net.UDPConn
	transport *quic.Transport
	conn      *quic.Conn
	client    *http3.ClientConn
	buf       []byte
}

func (c *carrier) Exchange(ctx context.Context, r load.Request, head func(status int), body func(piece []byte)) error {
	sent := false
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent = true }}
	a, err := c.client.RoundTrip(c.request(httptrace.WithClientTrace(ctx, trace), r))
	if err != nil {
		return c.lost(err, !sent)
	}
	head(a.StatusCode)
	defer a.Body.Close()
	came := int64(0)
	for {
		n, err := a.Body.Read(c.buf)
		if n > 0 {
			came += int64(n)
			body(c.buf[:n])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return c.lost(err, false)
		}
	}
	bodyless := r.Method == http.MethodHead || a.StatusCode == http.StatusNoContent || a.StatusCode == http.StatusNotModified
	if !bodyless && came < a.ContentLength {
		return &load.Loss{Err: errors.New("a body shorter than its Content-Length"), Garbled: true, Alone: true}
	}
	return nil
}

// request is r as net/http has it.
func (c *carrier) request(ctx context.Context, r load.Request) *http.Request {
	set := c.headers.of(r.Header)
	path := r.Path
	if path == "" {
		path = "/"
	}
	q := &http.Request{Method: r.Method, Header: set.header, Host: c.host}
	if set.host != "" {
		q.Host = set.host
	}
	q.URL = &url.URL{Scheme: "https", Host: q.Host, Opaque: path} // as it was written
	if strings.HasPrefix(path, "//") {
		q.URL.Opaque = "//" + q.Host + path
	}
	if len(r.Body) > 0 {
		q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	}
	return q.WithContext(ctx)
}

// lost says what became of a request that has no whole answer; unsent, that not
// even its head was sent.
func (c *carrier) lost(err error, unsent bool) error {
	loss := &load.Loss{Err: err, Left: unsent, Alone: !c.Over()}
	var of *http3.Error
	var stream *quic.StreamError
	switch {
	case errors.As(err, &of):
		loss.Garbled = !of.Remote
		loss.Left = loss.Left || of.Remote && of.ErrorCode == http3.ErrCodeRequestRejected
		if of.Remote {
			loss.Err = fmt.Errorf("the server reset the stream: %s", of.ErrorCode)
		}
	case errors.As(err, &stream):
		loss.Garbled = !stream.Remote
	case unsent:
	case c.Over(): // whoever ended it knows why
		var application *quic.ApplicationError
		var transport *quic.TransportError
		switch cause := context.Cause(c.conn.Context()); {
		case errors.As(cause, &application):
			loss.Garbled = !application.Remote
		case errors.As(cause, &transport):
			loss.Garbled = !transport.Remote
		}
	default: // of the answer alone
		loss.Garbled = true
	}
	return loss
}

func (c *carrier) Traffic() (in, out int64) {
	s := c.conn.ConnectionStats()
	return int64(s.BytesReceived), int64(s.BytesSent)
}

func (c *carrier) Over() bool { return c.conn.Context().Err() != nil }

func (c *carrier) Close() {
	_ = c.client.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
	c.release()
}

func (c *carrier) release() {
	_ = c.transport.Close()
	_ = c.socket.Close()
}

// headerSets are the headers of requests, made once for all connections.
type headerSets struct {
	mu   sync.Mutex
	made map[*[2]string]headerSet
}

type headerSet struct {
	header http.Header
	host   string // empty: the server's own
}

func (s *headerSets) of(list [][2]string) headerSet {
	var key *[2]string
	if len(list) > 0 {
		key = &list[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	set, made := s.made[key]
	if made {
		return set
	}
	set.header = http.Header{}
	for _, h := range list {
		if strings.EqualFold(h[0], "host") {
			set.host = h[1]
		} else {
			set.header.Add(h[0], h[1])
		}
	}
	if set.header["User-Agent"] == nil {
		set.header["User-Agent"] = []string{""} // none, and not quic-go's
	}
	s.made[key] = set
	return set
}
