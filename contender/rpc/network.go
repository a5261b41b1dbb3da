package rpc

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/tarebench/tare/contender"
)

// network counts the connections that a client opens, and what goes over them:
// bytes as they are read from and written to sockets.
type network struct{ opened, in, out atomic.Int64 }

func (n *network) dial(ctx context.Context, how, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, how, addr)
	if err != nil {
		return nil, err
	}
	n.opened.Add(1)
	return &metered{c, n}, nil
}

func (n *network) counts() contender.Network {
	return contender.Network{Opened: n.opened.Load(), In: n.in.Load(), Out: n.out.Load()}
}

// metered is a connection that is counted. One addition goes with each read and
// write, beside a system call.
type metered struct {
	net.Conn
	network *network
}

func (c *metered) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.network.in.Add(int64(n))
	return n, err
}

func (c *metered) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.network.out.Add(int64(n))
	return n, err
}
