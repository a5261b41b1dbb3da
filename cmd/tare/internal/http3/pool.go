package http3

import (
	"net"
	"slices"
	"sync"

	"github.com/quic-go/quic-go"
)

// maxShared limits the connections that share a socket.
const maxShared = 16

// pool contains UDP sockets. Up to maxShared QUIC connections to the same address share a socket.
type pool struct {
	mu      sync.Mutex
	sockets []*socket
}

type socket struct {
	to        *net.UDPAddr // address of the server
	conn      net.PacketConn
	transport *quic.Transport // QUIC on conn
	users     int             // open connections
}

// takeSocket returns a socket for another connection to an address. The caller must release it.
func (p *pool) takeSocket(to *net.UDPAddr) (*socket, error) {
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

// releaseSocket ends the use of a socket by a connection, and closes an unused socket.
func (p *pool) releaseSocket(s *socket) {
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
