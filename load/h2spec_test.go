package load

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// speaking is the environment variable that makes this process a client of h2specd. Its value is
// the engine.
const speaking = "TARE_LOAD_TEST_SPEAKS"

// The cases of h2spec for clients: each time the server does one thing wrong, or something unusual,
// and checks the reaction of the client.
func TestH2Spec(t *testing.T) {
	h2specd, err := exec.LookPath("h2specd")
	if err != nil {
		t.Skip("h2specd is not installed: go install github.com/summerwind/h2spec/cmd/h2specd@v2.2.1+incompatible")
	}
	for i, engine := range append(loops(t), Portable) {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel() // it waits most of the time
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			port := fmt.Sprint(20000 + os.Getpid()%30*300 + i*100)
			cmd := exec.CommandContext(ctx, h2specd, "-p", port, "-f", port, "-e", os.Args[0]+" -test.run=^TestSpeaks$")
			cmd.Env = append(os.Environ(), speaking+"="+string(engine))
			out, _ := cmd.CombinedOutput()
			out = regexp.MustCompile(`\x1b\[[0-9;]*[a-zA-Z]|.*use of closed network connection\n`).ReplaceAll(out, nil)
			if m := regexp.MustCompile(`(\d+) tests, (\d+) passed, 0 skipped, 0 failed`).FindSubmatch(out); m == nil {
				t.Errorf("%s", out)
			} else {
				t.Logf("%s", m[0])
			}
		})
	}
}

// TestSpeaks is that client. It opens only one connection, because a case is about one.
func TestSpeaks(t *testing.T) {
	engine := Engine(os.Getenv(speaking))
	if engine == "" {
		t.Skip("a client for TestH2Spec")
	}
	to, err := url.Parse(flag.Arg(0))
	assert.NoError(t, "URL", err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "listen", err)
	go func() {
		near, err := l.Accept()
		l.Close()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", to.Host)
		if err != nil {
			near.Close()
			return
		}
		go func() { _, _ = io.Copy(far, near); far.Close() }()
		_, _ = io.Copy(near, far)
		near.Close()
	}()
	s, err := Open(Options{
		Target: Target{Addr: l.Addr().String()}, Engine: engine, Protocol: H2C, Connections: 1, Timeout: 500 * time.Millisecond,
		Requests: []Request{{Method: "GET", Path: "/"}},
	})
	assert.NoError(t, "open", err)
	defer s.Close()
	r, err := s.Run(context.Background(), Leg{Duration: 700 * time.Millisecond, Think: 10 * time.Second}) // a case takes 3 s at most
	t.Logf("%+v, %v", r, err)
}
