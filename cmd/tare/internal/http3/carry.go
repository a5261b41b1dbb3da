// Package http3 gives the load generator connections of QUIC, by quic-go, for HTTP/3.
// Package load speaks HTTP/3 on their streams.
package http3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/h3"
)

// maxUniStreams limits the unidirectional streams that a server may have open: three that
// HTTP/3 has, and some of types that the client does not know.
const maxUniStreams = 16

// Carry returns a function that opens connections. They share sockets.
func Carry() load.Carry {
	// Or quic-go logs that the system's buffers for UDP are small.
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	// Marks of congestion would be allocated for each packet, and read from each.
	_ = os.Setenv("QUIC_GO_DISABLE_ECN", "true")
	p := new(pool)
	return func(ctx context.Context, addr string, config *tls.Config) (load.Carrier, int64, bool, error) {
		to, err := net.ResolveUDPAddr("udp", addr)
		if err != nil {
			return nil, 0, false, err
		}
		s, err := p.take(to)
		if err != nil {
			return nil, 0, false, err
		}
		began := time.Now()
		conn, err := s.transport.Dial(ctx, to, config, &quic.Config{
			Versions:              []quic.Version{quic.Version1},
			HandshakeIdleTimeout:  load.MaxDuration, // ctx ends it
			MaxIdleTimeout:        load.MaxDuration,
			KeepAlivePeriod:       10 * time.Second, // for answers that take long, and pauses
			MaxIncomingStreams:    -1,
			MaxIncomingUniStreams: maxUniStreams,
		})
		if err != nil {
			p.release(s)
			if ctx.Err() != nil {
				err = errors.New("no handshake of QUIC in time")
			}
			return nil, 0, false, err
		}
		took := time.Since(began)
		c := &carrier{pool: p, socket: s, conn: conn}
		if err := c.openControl(); err != nil {
			c.Close()
			return nil, 0, false, err
		}
		go c.acceptStreams()
		return c, int64(took), conn.ConnectionState().TLS.DidResume, nil
	}
}

// carrier is one connection.
type carrier struct {
	pool   *pool
	socket *socket
	conn   *quic.Conn

	mu      sync.Mutex
	peer    h3.Peer
	leaving bool      // the server has sent GOAWAY
	streams []*stream // that NewStream has returned
}

// openControl opens the client's control stream.
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
			c.fail(err)
			return
		}
		go c.readStream(s, reader)
	}
}

// readStream reads one of the server's unidirectional streams.
func (c *carrier) readStream(s *quic.ReceiveStream, reader *h3.PeerStream) {
	b := make([]byte, 512)
	for {
		n, err := s.Read(b)
		c.mu.Lock()
		known, wrong := reader.Feed(b[:n])
		first, leaves := c.peer.Leaves()
		c.leaving = leaves
		if leaves {
			for _, each := range c.streams {
				each.reject(quic.StreamID(first))
			}
		}
		if wrong == nil && err != nil {
			wrong = reader.End()
		}
		c.mu.Unlock()
		switch {
		case wrong != nil:
			c.fail(wrong)
			return
		case err != nil:
			return
		case !known:
			s.CancelRead(quic.StreamErrorCode(h3.StreamCreationError))
			return
		}
	}
}

// fail closes the connection because of what the server sent.
func (c *carrier) fail(err error) {
	code := h3.GeneralProtocolError
	var wrong *h3.ConnectionError
	if errors.As(err, &wrong) {
		code = wrong.Code
	}
	_ = c.conn.CloseWithError(quic.ApplicationErrorCode(code), err.Error())
}

func (c *carrier) NewStream() load.CarrierStream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stream{c: c}
	c.streams = append(c.streams, s)
	return s
}

func (c *carrier) Traffic() (in, out int64) {
	s := c.conn.ConnectionStats()
	return int64(s.BytesReceived), int64(s.BytesSent)
}

func (c *carrier) Over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving || c.conn.Context().Err() != nil
}

func (c *carrier) Close() {
	_ = c.conn.CloseWithError(quic.ApplicationErrorCode(h3.NoError), "")
	c.pool.release(c.socket)
}
