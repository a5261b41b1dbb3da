package rpc

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/tarebench/tare/contender"
)

// network counts connections that a client opens, and their bytes.
type network struct{ opened, in, out atomic.Int64 }

// dialCounted is a [Target.Dial] that counts.
func (n *network) dialCounted(ctx context.Context, protocol, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, protocol, addr)
	if err != nil {
		return nil, err
	}
	n.opened.Add(1)
	return &countedConn{c, n}, nil
}

func (n *network) readCounts() contender.Network {
	return contender.Network{Opened: n.opened.Load(), In: n.in.Load(), Out: n.out.Load()}
}

// countedConn is a connection whose bytes are counted. That costs one atomic addition per system call.
type countedConn struct {
	net.Conn
	network *network
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.network.in.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.network.out.Add(int64(n))
	return n, err
}
