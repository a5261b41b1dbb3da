// Package http3 opens QUIC connections for the load generator, with quic-go. Package load implements
// requests on their streams. This package reads and writes the unidirectional streams, with the settings of
// both sides. It also handles GOAWAY, with which a server ends a connection.
package http3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/h3"
)

// maxUniStreams limits the unidirectional streams of a server. HTTP/3 has three; streams of unknown types
// must be accepted, too.
const maxUniStreams = 16

// Garbage collection, which marks all live memory, takes less of the processor if it starts after more
// garbage. But garbage that no longer fits in the processor's caches costs more than is saved.
const (
	connectionBytes = 120e3 // live memory of a connection; see TestMemoryOfConnections
	maxGarbage      = 24e6  // bytes
	defaultPercent  = 100   // of garbage to live memory, unless GOGC sets it
	maxPercent      = 400
)

// Carry returns a function that opens connections, which share UDP sockets. connections is about how many
// will be open. Carry also sets the percentage of garbage for them, and two environment variables that
// quic-go reads.
func Carry(connections int) load.Carry {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent(connections))
	}
	// Otherwise quic-go warns about small UDP buffers of the system.
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	// Congestion marks (ECN) cost an allocation per sent packet and a control message per received one.
	_ = os.Setenv("QUIC_GO_DISABLE_ECN", "true")
	p := new(pool)
	return func(ctx context.Context, addr string, config *tls.Config) (load.Carrier, int64, bool, error) {
		to, err := net.ResolveUDPAddr("udp", addr)
		if err != nil {
			return nil, 0, false, err
		}
		s, err := p.takeSocket(to)
		if err != nil {
			return nil, 0, false, err
		}
		start := time.Now()
		conn, err := s.transport.Dial(ctx, to, config, &quic.Config{
			Versions:              []quic.Version{quic.Version1},
			HandshakeIdleTimeout:  load.MaxDuration, // ctx ends it
			MaxIdleTimeout:        load.MaxDuration,
			KeepAlivePeriod:       10 * time.Second, // for slow responses and for pauses
			MaxIncomingStreams:    -1,               // none: an HTTP/3 server opens no bidirectional streams
			MaxIncomingUniStreams: maxUniStreams,
		})
		if err != nil {
			p.releaseSocket(s)
			if ctx.Err() != nil {
				err = errors.New("no handshake of QUIC in time")
			}
			return nil, 0, false, err
		}
		handshake := time.Since(start)
		c := &carrier{pool: p, socket: s, conn: conn}
		if err := c.openControl(); err != nil {
			c.Close()
			return nil, 0, false, err
		}
		go c.acceptStreams()
		return c, int64(handshake), conn.ConnectionState().TLS.DidResume, nil
	}
}

// gcPercent returns the bytes of garbage for 100 bytes of live memory after which collection starts.
func gcPercent(connections int) int {
	percent := maxGarbage * 100 / (float64(max(1, connections)) * connectionBytes)
	return int(min(max(percent, defaultPercent), maxPercent))
}

type carrier struct {
	pool     *pool
	socket   *socket
	conn     *quic.Conn
	isShared atomic.Bool // there are several streams
	batch    sendBatch   // sends their requests

	mu      sync.Mutex
	peer    h3.Peer   // the server's unidirectional streams
	leaving bool      // the server has sent GOAWAY
	streams []*stream // the results of NewStream
}

func (c *carrier) openControl() error {
	s, err := c.conn.OpenUniStream()
	if err != nil {
		return fmt.Errorf("open the control stream: %w", err)
	}
	_, err = s.Write(h3.ControlStream(load.MaxHead))
	return err
}

// acceptStreams reads the server's unidirectional streams until the connection ends.
func (c *carrier) acceptStreams() {
	for {
		s, err := c.conn.AcceptUniStream(context.Background())
		if err != nil {
			return
		}
		c.mu.Lock()
		err = c.peer.AddStream()
		reader := c.peer.NewStream()
		c.mu.Unlock()
		if err != nil {
			c.failConnection(err)
			return
		}
		go c.readStream(s, reader)
	}
}

// readStream reads one of the server's unidirectional streams until its end. It cancels a stream of unknown
// type. After GOAWAY it rejects the requests that the server will not process.
func (c *carrier) readStream(s *quic.ReceiveStream, reader *h3.PeerStream) {
	b := make([]byte, 512)
	for {
		n, err := s.Read(b)
		c.mu.Lock()
		isKnown, violation := reader.Feed(b[:n])
		first, leaves := c.peer.Leaves() // the first stream that the server does not process
		c.leaving = leaves
		if leaves {
			for _, request := range c.streams {
				request.reject(quic.StreamID(first))
			}
		}
		if violation == nil && err != nil {
			violation = reader.End()
		}
		c.mu.Unlock()
		switch {
		case violation != nil:
			c.failConnection(violation)
			return
		case err != nil:
			return
		case !isKnown:
			s.CancelRead(quic.StreamErrorCode(h3.StreamCreationError))
			return
		}
	}
}

// failConnection closes the connection because the server violates HTTP/3.
func (c *carrier) failConnection(err error) {
	code := h3.GeneralProtocolError
	var connectionErr *h3.ConnectionError
	if errors.As(err, &connectionErr) {
		code = connectionErr.Code
	}
	_ = c.conn.CloseWithError(quic.ApplicationErrorCode(code), err.Error())
}

// NewStream returns a stream that carries one request after another.
func (c *carrier) NewStream() load.CarrierStream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stream{c: c}
	c.streams = append(c.streams, s)
	c.isShared.Store(len(c.streams) > 1)
	return s
}

// Traffic returns the bytes of all packets so far.
func (c *carrier) Traffic() (in, out int64) {
	s := c.conn.ConnectionStats()
	return int64(s.BytesReceived), int64(s.BytesSent)
}

// Over reports whether the connection takes no more requests.
func (c *carrier) Over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving || c.conn.Context().Err() != nil
}

// Close closes the connection.
func (c *carrier) Close() {
	_ = c.conn.CloseWithError(quic.ApplicationErrorCode(h3.NoError), "")
	c.pool.releaseSocket(c.socket)
}
