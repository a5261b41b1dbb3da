package docs

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// place is where blocks are typed, and with which environment.
type place struct {
	dir string
	env []string
}

func (p place) command(ctx context.Context, script string, out io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-eu")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, p.env, strings.NewReader(script), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a block, and ends what is left of it. The port 8080 is somebody
// else's, perhaps, so that a free one takes its place.
func (p place) run(t *testing.T, b Block) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := p.command(ctx, strings.ReplaceAll(b.Text, "8080", freePort(t)), &out)
	err := cmd.Start()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	for range 100 { // what the block has just ended takes a moment
		if syscall.Kill(-cmd.Process.Pid, 0) != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) == nil && err == nil {
		t.Errorf("%s leaves a process running; end what it starts", b)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", b, err, b.Text, out.String())
	}
}

var listens = regexp.MustCompile(`https?://127\.0\.0\.1:[0-9]+`)

// serve starts a server, waits until it says where it listens, asks it, and
// interrupts it as Ctrl-C does: it has to end, without an error.
func (p place) serve(t *testing.T, b Block, command string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	port := freePort(t)
	p.env = append(p.env[:len(p.env):len(p.env)], "TARE_ADDR=127.0.0.1:"+port)
	var out said
	// The shell outlives the interrupt and reports how the server ended.
	cmd := p.command(ctx, "trap : INT\n"+strings.ReplaceAll(command, "8080", port)+"\n", &out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for url := ""; url == ""; {
		select {
		case err := <-ended:
			t.Errorf("%s: %s: it ended: %v\n%s", b, command, err, out.String())
			return
		case <-time.After(50 * time.Millisecond):
			url = listens.FindString(out.String())
		}
		if url == "" {
			continue
		}
		c := http.Client{Timeout: 10 * time.Second}
		res, err := c.Get(url + "/health")
		if err != nil && !strings.Contains(err.Error(), "malformed HTTP response") { // gRPC answers nothing else
			t.Errorf("%s: %s: %v\n%s", b, command, err, out.String())
		}
		if err == nil {
			_ = res.Body.Close()
		}
		c.CloseIdleConnections()
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("%s: %s: after an interrupt: %v\n%s", b, command, err, out.String())
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// said is what a command has printed so far.
type said struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}
