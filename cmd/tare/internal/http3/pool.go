package http3

import (
	"net"
	"slices"
	"sync"

	"github.com/quic-go/quic-go"
)

// maxShared limits the connections that share a socket.
const maxShared = 16

// pool contains the UDP sockets of a session of the load generator. Up to maxShared QUIC connections
// to the same address share a socket.
type pool struct {
	mu      sync.Mutex
	sockets []*socket
}

// socket is a UDP socket with the connections on it.
type socket struct {
	to        *net.UDPAddr    // address of the server
	conn      net.PacketConn  // the socket itself
	transport *quic.Transport // QUIC on conn
	users     int             // open connections on it
}

// take returns a socket for another connection to an address, a new one if no open socket has room.
// The caller must release it.
func (p *pool) take(to *net.UDPAddr) (*socket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sockets {
		isSameAddr := s.to.Port == to.Port && s.to.IP.Equal(to.IP) && s.to.Zone == to.Zone
		if isSameAddr && s.users < maxShared {
			s.users++
			return s, nil
		}
	}
	conn, err := openSocket(to)
	if err != nil {
		return nil, err
	}
	s := &socket{to: to, conn: conn, transport: &quic.Transport{Conn: conn}, users: 1}
	p.sockets = append(p.sockets, s)
	return s, nil
}

// release records that a connection no longer uses a socket, and closes the socket after the last one.
func (p *pool) release(s *socket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if s.users > 0 {
		return
	}
	p.sockets = slices.DeleteFunc(p.sockets, func(other *socket) bool { return other == s })
	_ = s.transport.Close()
	_ = s.conn.Close()
}
