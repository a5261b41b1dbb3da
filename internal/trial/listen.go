package trial

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// ServerOutput is the output limit of a server in one trial, in bytes. A server that logs each request
// prints hundreds of megabytes, of which only the end is saved.
const ServerOutput = 16 << 30

const (
	acceptLimit = 30 * time.Second      // longest time until a command accepts connections
	acceptEvery = 10 * time.Millisecond // time between attempts to connect
)

// FreePort returns a TCP port of 127.0.0.1 at which nothing listens at the moment.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return strconv.Itoa(port), l.Close()
}

// Accepts reports whether something accepts connections at addr, within a second.
func Accepts(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// AwaitListen waits until the program accepts connections at one of addrs, and returns this address.
// It fails after 30 s, if the program ends, or if ctx ends.
func (c *Command) AwaitListen(ctx context.Context, addrs ...string) (addr string, err error) {
	limit, cancel := context.WithTimeout(ctx, acceptLimit)
	defer cancel()
	for {
		for _, addr := range addrs {
			if Accepts(limit, addr) {
				return addr, c.Lost("start") // fails if c has ended and another program listens
			}
		}
		select {
		case <-c.Exited():
			return "", c.Lost("start")
		case <-limit.Done():
			if err := ctx.Err(); err != nil {
				return "", err
			}
			return "", trialError(tare.ErrStart, "nothing accepts connections at %s after %v; the command must listen on $PORT",
				strings.Join(addrs, " or "), acceptLimit)
		case <-time.After(acceptEvery):
		}
	}
}
