package trial

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// ServerOutput is the maximum number of bytes that a server may print in one trial. A line of a log
// per request makes hundreds of megabytes, of which only the end is saved. The limit is for a
// server that prints without end.
const ServerOutput = 16 << 30

const (
	acceptLimit = 30 * time.Second      // how long a command may take until it accepts connections
	acceptEvery = 10 * time.Millisecond // how often that is tried
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

// AwaitListen waits until one of the addresses accepts connections, which it returns. It fails if
// the program has ended, if none accepts any within 30 s, and if ctx ends.
func (c *Command) AwaitListen(ctx context.Context, addrs ...string) (addr string, err error) {
	limit, cancel := context.WithTimeout(ctx, acceptLimit)
	defer cancel()
	for {
		for _, addr := range addrs {
			if Accepts(limit, addr) {
				return addr, c.Lost("start") // if it has ended, another program has the port
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
