//go:build unix

package trial

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

func TestAwaitListen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	open := l.Addr().String()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	closed := net.JoinHostPort("127.0.0.1", port)

	c := command(t, "ends when told", nil)
	if addr, err := c.AwaitListen(t.Context(), closed, open); addr != open || err != nil {
		t.Errorf("%q, %v", addr, err)
	}
	stopped, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if addr, err := c.AwaitListen(stopped, closed); addr != "" || err != context.DeadlineExceeded {
		t.Errorf("ctx ends: %q, %v", addr, err)
	}

	c = command(t, "crash at once", nil)
	exited(t, c)
	for name, addr := range map[string]string{"it has ended": closed, "another program has its port": open} {
		if _, err := c.AwaitListen(t.Context(), addr); err == nil || !strings.HasPrefix(err.Error(), "exit: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
