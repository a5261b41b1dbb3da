//go:build !unix

package wire

import (
	"errors"
	"io"
	"net"
	"time"
)

// checkInheritable fails: this system cannot inherit descriptors by number.
func checkInheritable(int) error {
	return errors.New("descriptors cannot be inherited on this system; use tcp:host:port")
}

func dialLoopback(addr string) (io.ReadWriteCloser, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !tcp.IP.IsLoopback() {
		return nil, errors.New("not a loopback address")
	}
	return net.DialTimeout("tcp", addr, 5*time.Second)
}
