package load

import (
	"context"
	"crypto/tls"

	"github.com/tarebench/tare/load/h3"
)

// Carry opens a connection of QUIC to addr and completes its handshake: this package
// speaks HTTP/3, and needs somebody's QUIC below it. took is the time of the handshake in
// ns, and resumed reports whether it resumed an earlier one; without a session cache in
// config it does not.
type Carry func(ctx context.Context, addr string, config *tls.Config) (c Carrier, took int64, resumed bool, err error)

// Carrier is a connection of QUIC. It has sent the control stream of HTTP/3, and reads
// the server's. Errors are of class reset, unless they are a Loss that says more.
type Carrier interface {
	// NewStream returns room for one request after another. Several may be in use at a
	// time.
	NewStream() CarrierStream
	// Traffic returns the bytes received and sent so far.
	Traffic() (in, out int64)
	// Over reports whether the connection takes no more requests.
	Over() bool
	Close()
}

// CarrierStream carries one request at a time, each on a new stream.
type CarrierStream interface {
	// Open opens a stream. It returns false if the server allows no more for now.
	Open() (bool, error)
	// OpenWait is Open, and waits until the server allows another one or ctx ends.
	OpenWait(ctx context.Context) error
	// Send sends a request and the end of the stream. It waits until the connection has
	// taken all but the last packet of it.
	Send(b []byte) error
	// Read reads the answer. io.EOF is the end of the stream.
	Read(b []byte) (int, error)
	// Cancel gives up both directions, which ends Send and Read. Other goroutines may
	// call it. It does nothing after the end of both.
	Cancel(code h3.Code)
}

// Loss holds the reason for a lost request, with what is known beyond that.
type Loss struct {
	Err     error
	Garbled bool // what came is not the protocol: class framing
	Left    bool // the server says that it did not look at the request, which may be sent again
	Alone   bool // the connection is good for others
}

func (l *Loss) Error() string { return l.Err.Error() }
func (l *Loss) Unwrap() error { return l.Err }
