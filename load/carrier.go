package load

import (
	"context"
	"crypto/tls"
)

// Carry opens a connection to addr and shakes hands. With it, the portable engine sends requests over a
// protocol that this package does not implement. took is the duration of the handshake in ns, resumed whether
// it resumed an earlier session, which it does not if config has no session cache.
type Carry func(ctx context.Context, addr string, config *tls.Config) (c Carrier, took int64, resumed bool, err error)

// Carrier is such a connection. It has at most one request in flight.
type Carrier interface {
	// Exchange sends a request and reads its response to the end. It calls head on the
	// final header and body with each part of the body, which is valid during the call. Errors
	// are of class reset, unless they are a Loss with more details.
	Exchange(ctx context.Context, r Request, head func(status int), body func(piece []byte)) error
	// Traffic returns the bytes received and sent so far.
	Traffic() (in, out int64)
	// Over reports whether the connection accepts no more requests.
	Over() bool
	Close()
}

// Loss is the reason why a request was lost, with its consequences.
type Loss struct {
	Err     error
	Garbled bool // the input is not valid: class framing
	Left    bool // the server reports that it did not process the request, which may be sent again
	Alone   bool // the connection can carry other requests
}

func (l *Loss) Error() string { return l.Err.Error() }
func (l *Loss) Unwrap() error { return l.Err }
