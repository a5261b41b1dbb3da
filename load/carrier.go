package load

import (
	"context"
	"crypto/tls"
)

// Carry opens a connection to addr, shakes hands, and is told by the portable engine
// what to send: so connections can be of a protocol that this package does not speak.
// took is how long the handshake took in ns, and resumed says that it went on from an
// earlier one. Where config has no session cache, it does not.
type Carry func(ctx context.Context, addr string, config *tls.Config) (c Carrier, took int64, resumed bool, err error)

// Carrier is such a connection. One request is under way on it at a time.
type Carrier interface {
	// Exchange sends a request and reads its answer to the end. head is told when its
	// final head has come, and body each piece of its body, which is only lent. Errors
	// are of class reset, unless they are a Loss that says more.
	Exchange(ctx context.Context, r Request, head func(status int), body func(piece []byte)) error
	// Traffic is how many bytes went each way so far.
	Traffic() (in, out int64)
	// Over reports whether the connection takes no more requests.
	Over() bool
	Close()
}

// Loss is why a request was lost, with what is known beyond that.
type Loss struct {
	Err     error
	Garbled bool // what came is not the protocol: class framing
	Left    bool // the server says that it did not look at the request, which may be sent again
	Alone   bool // the connection is good for others
}

func (l *Loss) Error() string { return l.Err.Error() }
func (l *Loss) Unwrap() error { return l.Err }
