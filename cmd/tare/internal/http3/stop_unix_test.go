//go:build unix

package http3

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
)

// serving is the environment variable that makes this process a server.
const serving = "TARE_HTTP3_TEST_SERVES"

// TestServes is the server for tests that need one in another process. It runs until its standard input ends.
func TestServes(t *testing.T) {
	if os.Getenv(serving) == "" {
		t.Skip("a server for another test")
	}
	addr := serveQUIC(t, &quic.Config{HandshakeIdleTimeout: time.Hour, MaxIdleTimeout: time.Hour}, func(c *quic.Conn) { answerAll(c, fineAnswer) })
	fmt.Fprintf(os.Stdout, "\nlistening on %s\n", addr)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startServer starts the server in another process, which ends with the test.
func startServer(t *testing.T) (addr string, process *os.Process) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServes$")
	cmd.Env = append(os.Environ(), serving+"=yes")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			return addr, cmd.Process
		}
	}
	t.Fatal("the server did not come up")
	return "", nil
}

// A server over HTTP/3 is stopped for a part of a second while requests are due: all of them are sent and answered, and
// those that were due during the stop have waited for the rest of it, so the p99 is not more than a tenth below theory.
// A busy machine adds to latencies and takes none away: how far the p99 is above theory is only logged.
func TestStop(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	const rate, whole, stop = 1000, 4 * time.Second, 300 * time.Millisecond
	addr, process := startServer(t)
	o := options(addr)
	o.Connections, o.Timeout = 50, load.DefaultTimeout
	var stopped time.Duration
	done := make(chan struct{})
	r, _, err := run(t, o, load.Leg{Profile: load.Constant{PerSecond: rate}, LeadTime: 200 * time.Millisecond, Duration: whole, Mark: func(begin bool) {
		if !begin {
			return
		}
		go func() {
			defer close(done)
			time.Sleep(whole / 4)
			_ = process.Signal(syscall.SIGSTOP)
			from := time.Now()
			time.Sleep(stop)
			stopped = time.Since(from) // before the signal, after which this process may have to wait
			_ = process.Signal(syscall.SIGCONT)
		}()
	}})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	if r.Sent+r.Late != rate*int64(whole/time.Second) || r.Requests != r.Sent || len(r.Errors) != 0 {
		t.Errorf("%d sent, %d late, %d answered, %v: %s", r.Sent, r.Late, r.Requests, r.Errors, r.FirstError)
	}
	const slower = whole / 100 // the time in which the requests above the p99 are due: those that waited longest
	want := stopped - slower + time.Duration(r.Service.Quantile(0.5))
	got := time.Duration(r.Latency.Quantile(0.99))
	if got < want*9/10 {
		t.Errorf("p99 %v, theory %v", got, want)
	}
	t.Logf("stopped for %v: p99 %v, theory %v (%+.1f %%); p50 %v, max %v, send lag p50 %v", stopped, got, want, 100*(float64(got)/float64(want)-1),
		time.Duration(r.Latency.Quantile(0.5)), time.Duration(r.Latency.Max()), time.Duration(r.SendLag.Quantile(0.5)))
}

// profileDir is the environment variable with the directory for the profiles of TestProfile.
const profileDir = "TARE_HTTP3_PROFILE"

// TestProfile writes profiles of the client under load: cpu.prof and allocs.prof, for docs/research/quic-go.md.
func TestProfile(t *testing.T) {
	dir := os.Getenv(profileDir)
	if dir == "" {
		t.Skip("writes profiles to the directory " + profileDir)
	}
	addr, _ := startServer(t)
	o := options(addr)
	o.Connections, o.Timeout = 50, load.DefaultTimeout
	var cpu, allocs bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		t.Fatal(err)
	}
	r, _, err := run(t, o, load.Leg{Duration: 15 * time.Second})
	pprof.StopCPUProfile()
	if err != nil || r.Requests == 0 {
		t.Fatalf("%v: %v: %s", err, r.Errors, r.FirstError)
	}
	if err := pprof.Lookup("allocs").WriteTo(&allocs, 0); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests", r.Requests)
	for name, profile := range map[string]*bytes.Buffer{"cpu.prof": &cpu, "allocs.prof": &allocs} {
		if err := os.WriteFile(filepath.Join(dir, name), profile.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
