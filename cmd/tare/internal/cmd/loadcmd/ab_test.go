package loadcmd

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/load"
)

// TestEndlessHeadOfAnIntroduction: a head without an end is left, long before the
// time for an answer is over.
func TestEndlessHeadOfAnIntroduction(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	left := make(chan int)
	go func() {
		defer close(left)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nServer: x\r\n")
		n := 0
		for line := strings.Repeat("A: b\r\n", 1000); n < 64<<20; n += len(line) {
			if _, err := io.WriteString(c, line); err != nil {
				break
			}
		}
		left <- n
	}()
	one := &loadRun{requests: []load.Request{{Method: "GET", Path: "/"}}, target: load.Target{Addr: l.Addr().String()}}
	one.options.timeout = 10 * time.Second
	one.fetchFirst(t.Context())
	if n := <-left; n >= 64<<20 {
		t.Errorf("all of %d bytes of a head were read", n)
	}
	if one.software != "" {
		t.Errorf("software %q of an answer without an end", one.software)
	}
}
