// Package services runs services as tare serve does, and does to them what
// strangers do.
package services

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
)

func TestMain(m *testing.M) { os.Exit(testtare.Main(m, cli.RunProcess)) }

// soak reports whether tests are to be run whole, however long they take.
func soak() bool { return os.Getenv("TARE_SOAK") != "" }

// environment has tare on the path, and nothing of tare's but what is given. It is without
// GOGC, which make test sets for linkers: a service with it has more memory than its users'.
func environment(t *testing.T, more ...string) []string {
	t.Helper()
	var env []string
	for _, v := range os.Environ() {
		ours := strings.HasPrefix(v, "TARE_") && !strings.HasPrefix(v, "TARE_CATALOG=") // that may name the clone, which another user made
		if !ours && !strings.HasPrefix(v, "PATH=") && !strings.HasPrefix(v, "GOGC=") {
			env = append(env, v)
		}
	}
	return append(append(env, "TARE_CACHE="+testtare.Cache(t), "TARE_DATA="+t.TempDir(), "PATH="+filepath.Dir(testtare.Program(t))+":"+os.Getenv("PATH")), more...)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// safe is a buffer that another goroutine fills.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// service is a tare serve that runs.
type service struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan error
	said  *safe
	env   []string
	dir   string
	addr  string   // host:port of the first face
	tries []string // the lines to try it by, one for each face
}

var (
	serving = regexp.MustCompile(`: serving .* at https?://(\S+)`)
	trying  = regexp.MustCompile(`(?m): try: (.*)$`)
)

// serve types a command of tare serve in a directory, and returns when the
// service can be asked.
func serve(t *testing.T, dir, command string, env []string) *service {
	t.Helper()
	return script(t, dir, "exec "+command, env)
}

// script is serve for a script that becomes tare serve.
func script(t *testing.T, dir, command string, env []string) *service {
	t.Helper()
	s := &service{t: t, ended: make(chan error, 1), said: &safe{}, env: env, dir: dir}
	s.cmd = exec.Command("sh", "-c", command)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = dir, env, s.said, s.said
	testtare.Bind(s.cmd)
	must(t, s.cmd.Start())
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() { s.end() })
	for end := time.Now().Add(40 * time.Minute); ; time.Sleep(20 * time.Millisecond) { // it is built first
		text := s.said.String()
		at := serving.FindAllStringSubmatch(text, -1)
		if s.tries = nil; len(at) > 0 && strings.Count(text, ": try: ") == len(at) && strings.HasSuffix(text, "\n") {
			s.addr = at[0][1]
			s.walk(s.cmd.Process.Pid, func(pid int) { // building it counts for nothing
				_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
			})
			for _, m := range trying.FindAllStringSubmatch(text, -1) {
				s.tries = append(s.tries, m[1])
			}
			return s
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			t.Fatalf("%s: it ended: %v\n%s", command, err, text)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s: it does not begin: %s", command, text)
		}
	}
}

// end interrupts it, and wants it to end.
func (s *service) end() {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // or it has ended
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(2 * time.Minute):
		_ = s.cmd.Process.Kill()
		s.t.Errorf("it does not end: %s", s.said)
	}
}

// shell types a command beside the service.
func (s *service) shell(command string) (string, error) {
	cmd := exec.Command("sh", "-ec", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// usage is what the service has used, and tare, which sends events on, beside it.
type usage struct {
	service, tare int64 // most bytes resident
	cpu           time.Duration
}

var (
	resident = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)
	mapped   = regexp.MustCompile(`RssFile:\s*(\d+) kB`)
)

// used looks at tare and at all that it has started.
func (s *service) used() (u usage) {
	self, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.cmd.Process.Pid))
	must(s.t, err)
	s.walk(s.cmd.Process.Pid, func(pid int) {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == self && pid != s.cmd.Process.Pid {
			return // the guardian
		}
		peak := int64(0)
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil { // or it has ended
			if m := resident.FindSubmatch(text); m != nil {
				peak, _ = strconv.ParseInt(string(m[1]), 10, 64)
			}
			if m := mapped.FindSubmatch(text); m != nil { // pages of files the kernel can drop
				file, _ := strconv.ParseInt(string(m[1]), 10, 64)
				peak -= file
			}
		}
		if pid == s.cmd.Process.Pid {
			u.tare = peak << 10
		} else {
			u.service = max(u.service, peak<<10)
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			for _, field := range fields[11:13] { // user and system time, in hundredths of a second
				n, _ := strconv.ParseInt(field, 10, 64)
				u.cpu += time.Duration(n) * 10 * time.Millisecond
			}
		}
	})
	return u
}

// walk visits a process and all that it has started.
func (s *service) walk(pid int, visit func(pid int)) {
	visit(pid)
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				s.walk(n, visit)
			}
		}
	}
}

// get asks for a page.
func (s *service) get(path string) (status int, body string) {
	s.t.Helper()
	c := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get("http://" + s.addr + path)
	must(s.t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	must(s.t, err)
	return r.StatusCode, string(text)
}

// metric is the sum of what /metrics has under a name.
func (s *service) metric(name string) (sum float64) {
	s.t.Helper()
	_, text := s.get("/metrics")
	found := false
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok && (rest[0] == ' ' || rest[0] == '{') {
			fields := strings.Fields(line)
			n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			must(s.t, err)
			sum, found = sum+n, true
		}
	}
	if !found {
		s.t.Errorf("/metrics has no %s", name)
	}
	return sum
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within five minutes", what)
		}
	}
}
