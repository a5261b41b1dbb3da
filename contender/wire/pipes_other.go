//go:build !unix

package wire

import (
	"errors"
	"io"
	"net"
	"time"
)

// inheritable refuses: descriptors cannot be passed on by number here.
func inheritable(int) error {
	return errors.New("descriptors cannot be inherited on this system; use tcp:host:port")
}

// dial connects to a loopback address.
func dial(addr string) (io.ReadWriteCloser, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !tcp.IP.IsLoopback() {
		return nil, errors.New("not a loopback address")
	}
	return net.DialTimeout("tcp", addr, 5*time.Second)
}
