package load

import (
	"context"
	"crypto/tls"

	"github.com/tarebench/tare/load/h3"
)

// Carry opens a QUIC connection to addr and completes its handshake: this package
// implements HTTP/3, and the caller provides QUIC. took is the time of the handshake in
// ns. resumed reports whether the handshake resumed an earlier session, which requires a
// session cache in config.
type Carry func(ctx context.Context, addr string, config *tls.Config) (c Carrier, took int64, resumed bool, err error)

// Carrier is a QUIC connection. It sends the control stream of HTTP/3 and reads that of
// the server. An error that is a *Loss counts as class reset, or as framing if it is
// Garbled. Any other error of a request counts as framing.
type Carrier interface {
	// NewStream returns a CarrierStream. Several may be in use at the same time.
	NewStream() CarrierStream
	// Traffic returns the bytes received and sent so far.
	Traffic() (in, out int64)
	// Over reports whether the connection takes no more requests.
	Over() bool
	Close()
}

// CarrierStream carries one request at a time, each on a new stream.
type CarrierStream interface {
	// Open opens a stream for the next request. It returns false if the server allows no
	// more streams for now.
	Open() (bool, error)
	// OpenWait is like Open, but waits until the server allows one more stream. It fails if
	// ctx ends before.
	OpenWait(ctx context.Context) error
	// Send sends a request and the end of the stream. It returns when the connection has
	// accepted all of the request except the last packet.
	Send(b []byte) error
	// Read reads the response. At the end of the stream it returns io.EOF.
	Read(b []byte) (int, error)
	// Cancel aborts both directions of the stream, which ends Send and Read. Other
	// goroutines may call it. After the end of both directions it does nothing.
	Cancel(code h3.Code)
}

// Loss is the error of a request that was lost, with the consequences for the request and its connection.
type Loss struct {
	Err     error
	Garbled bool // the received bytes violate the protocol: class framing
	Left    bool // the server reports that it did not process the request, which may be sent again
	Alone   bool // only this request is lost: the connection remains usable
}

func (l *Loss) Error() string { return l.Err.Error() }
func (l *Loss) Unwrap() error { return l.Err }
