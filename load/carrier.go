package load

import (
	"context"
	"crypto/tls"

	"github.com/tarebench/tare/load/h3"
)

// Carry opens a QUIC connection to addr and completes its handshake. The caller provides QUIC; this package
// implements HTTP/3. took is the time of the handshake in ns. resumed reports whether it resumed an earlier
// session. That requires a session cache in config.
type Carry func(ctx context.Context, addr string, config *tls.Config) (c Carrier, took int64, resumed bool, err error)

// Carrier is a QUIC connection. It also sends and reads the control streams of HTTP/3. A *Loss counts as an
// error of class reset, or as framing if it is Garbled. Any other error of a request counts as framing.
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
	// Open opens a stream for the next request. It returns false while the server allows no more streams.
	Open() (bool, error)
	// OpenWait is like Open, but waits until the server allows one more stream or ctx ends.
	OpenWait(ctx context.Context) error
	// Send sends a request and the end of the stream. It returns once the connection has accepted all but
	// the last packet. It may return earlier for a request that fits into a packet.
	Send(b []byte) error
	// Read reads the response. At its end it returns io.EOF.
	Read(b []byte) (int, error)
	// Cancel aborts the stream, which ends Send and Read. Other goroutines may call it, also after the end
	// of the stream.
	Cancel(code h3.Code)
}

// Loss is the error of a lost request.
type Loss struct {
	Err     error
	Garbled bool // the received bytes violate the protocol: class framing
	Left    bool // the server did not process the request: it may be sent again
	Alone   bool // the connection remains usable for other requests
}

func (l *Loss) Error() string { return l.Err.Error() }
func (l *Loss) Unwrap() error { return l.Err }
