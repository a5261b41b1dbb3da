package e2e

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/load"
)

// standing is an agent that has joined a coordinator in this process.
type standing struct {
	hub  *fleet.Hub
	b    bench
	said *bytes.Buffer
	pid  int
	end  func() (code int, took time.Duration) // waits for the process after a signal
}

const rack = "rack-7"

// join starts an agent. Without a coordinator it waits for one.
func (b bench) join(t *testing.T, coordinator bool, more ...string) standing {
	t.Helper()
	secrets, err := fleet.ReadSecrets(filepath.Join(b.data, "fleet"))
	if err == nil {
		err = secrets.MakeToken(rack)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := standing{b: b, said: &bytes.Buffer{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	if coordinator {
		if s.hub, err = fleet.Open(fleet.HubOptions{Listen: "127.0.0.1:0", Cert: secrets.Cert, Token: secrets.Token}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.hub.Close)
		addr = s.hub.Addr()
	}
	cmd := b.command(append([]string{"agent", "--join", addr, "--fingerprint", secrets.Fingerprint, "--name", rack, "--token-file", secrets.TokenFile(rack)}, more...)...)
	cmd.Stderr = s.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	s.pid = cmd.Process.Pid
	s.end = func() (int, time.Duration) {
		from := time.Now()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the agent is there a minute later")
		}
		return cmd.ProcessState.ExitCode(), time.Since(from)
	}
	if coordinator {
		if err := s.hub.Await(t.Context(), rack); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// doing waits until the agent reports that it does something.
func (s standing) doing(t *testing.T, what string) {
	t.Helper()
	for range 3000 {
		if all := s.hub.Agents(); len(all) == 1 && strings.Contains(all[0].Doing, what) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("it never reports %q: %s", what, s.said)
}

// study gives the agent rounds of a study.
func (s standing) study(t *testing.T) {
	run := &fleet.StudyRun{Hub: s.hub, Dir: t.TempDir(), Machines: []string{rack}, Share: 1000, Say: func(string, string) {}, Study: fleet.StudyOrder{
		Command: "run", ID: "s", Seed: 5,
		Text: `{study: s, question: "q?", kinds: [codec], baseline: encoding-json, contenders: [encoding-json], metrics: [time], workloads: [{id: w, fixture: devices, n: 50, op: marshal}]}`,
	}}
	go func() { _, _ = run.Run(t.Context()) }()
}

// load gives the agent a share of a load.
func (s standing) load(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	addr := strings.TrimPrefix(server.URL, "http://")
	run := &fleet.LoadRun{Hub: s.hub, Machines: []string{rack}, Say: func(string, string) {}, Orders: []fleet.LoadOrder{{
		Target: fleet.Target{Addr: addr, Host: addr}, Requests: []load.Request{{Method: "GET", Path: "/"}},
		Connections: 4, Timeout: 5 * time.Second, Duration: time.Hour, Rate: "300/s", Seed: 1, Of: 1,
	}}}
	go func() { _, _ = run.Run(t.Context()) }()
}

// stops returns how often each state is tried, and how soon after SIGTERM a process must
// have ended: a machine that others use may take longer than the five seconds that are
// promised.
func stops() (times int, soon time.Duration) {
	if os.Getenv("TARE_SOAK") == "1" {
		return 20, 5 * time.Second
	}
	return 1, 30 * time.Second
}

// TestCommandsAreStopped: SIGTERM ends each command, whatever it does, and nothing is left
// of it: no process and no temporary file.
func TestCommandsAreStopped(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	answering := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(answering.Close)
	after := func(d time.Duration) func(*testing.T, bench) bool {
		from := time.Now()
		return func(*testing.T, bench) bool { return time.Since(from) > d }
	}
	study := []string{"run", "testdata/kill.yaml", "--rounds", "200", "--quiet"}
	measuring := func(t *testing.T, b bench) bool { return b.rounds(t) > 0 }
	times, soon := stops()
	for name, c := range map[string]struct {
		args  []string
		fresh bool // the cache is empty, so that it builds
		doing func() func(*testing.T, bench) bool
	}{
		"a study that builds":     {study, true, func() func(*testing.T, bench) bool { return after(700 * time.Millisecond) }},
		"a study in a round":      {study, false, func() func(*testing.T, bench) bool { return measuring }},
		"load on a silent server": {[]string{"load", "-d", "5m", "--timeout", "1m", "http://" + silent.Addr().String()}, false, func() func(*testing.T, bench) bool { return after(time.Second) }},
		"load":                    {[]string{"load", "-d", "5m", answering.URL}, false, func() func(*testing.T, bench) bool { return after(2 * time.Second) }},
		"load in an open loop":    {[]string{"load", "-d", "5m", "--rate", "100/s", answering.URL}, false, func() func(*testing.T, bench) bool { return after(2 * time.Second) }},
		"a service that is built": {[]string{"serve", "tiny", "--stack", "nethttp", "--addr", "127.0.0.1:0"}, true, func() func(*testing.T, bench) bool { return after(700 * time.Millisecond) }},
		"a service":               {[]string{"serve", "tiny", "--stack", "nethttp", "--addr", "127.0.0.1:0"}, false, func() func(*testing.T, bench) bool { return after(3 * time.Second) }},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.fresh {
				t.Skip("builds")
			}
			t.Parallel()
			for range times {
				b := newBench(t)
				if c.fresh {
					b.cache = t.TempDir()
				}
				cmd, said := b.command(c.args...), &bytes.Buffer{}
				cmd.Stdout, cmd.Stderr = said, said
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				go func() { _ = cmd.Wait(); close(ended) }()
				t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
				for doing := c.doing(); !doing(t, b); time.Sleep(20 * time.Millisecond) {
					select {
					case <-ended:
						t.Fatalf("it ended by itself: %s", said)
					default:
					}
				}
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				from := time.Now()
				select {
				case <-ended:
				case <-time.After(time.Minute):
					t.Fatal("it is there a minute later")
				}
				took := time.Since(from)
				if took > soon {
					t.Errorf("%v after %v\n%s", cmd.ProcessState, took, said)
				}
				t.Logf("%v", took.Round(time.Millisecond))
				b.nothingLeft(t, name)
				if files := b.temporary(); len(files) > 0 {
					t.Errorf("%q are left", files)
				}
			}
		})
	}
}

// temporary lists the temporary files that are left.
func (b bench) temporary() []string {
	files, _ := filepath.Glob(filepath.Join(b.tmp, "*")) // the pattern is well formed
	return files
}

// TestAgentIsStopped: SIGTERM ends an agent, whatever it does, and nothing is left of the
// order: no process and no file.
func TestAgentIsStopped(t *testing.T) {
	times, soon := stops()
	for name, until := range map[string]func(t *testing.T, b bench) standing{
		"without a coordinator": func(t *testing.T, b bench) standing {
			s := b.join(t, false)
			time.Sleep(200 * time.Millisecond)
			return s
		},
		"without an order": func(t *testing.T, b bench) standing { return b.join(t, true) },
		"while a study is prepared": func(t *testing.T, b bench) standing {
			s := b.join(t, true)
			s.study(t)
			s.doing(t, "study s")
			return s
		},
		"in a round": func(t *testing.T, b bench) standing {
			s := b.join(t, true)
			s.study(t)
			s.doing(t, "study s, round 2")
			return s
		},
		"in a load": func(t *testing.T, b bench) standing {
			s := b.join(t, true)
			s.load(t)
			s.doing(t, "load of")
			return s
		},
		"in a round, and the coordinator is gone": func(t *testing.T, b bench) standing {
			s := b.join(t, true)
			s.study(t)
			s.doing(t, "study s, round 2")
			s.hub.Close()
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "in a round" && name != "in a load" {
				t.Skip("as in a round")
			}
			t.Parallel()
			for range times {
				b := newBench(t)
				s := until(t, b)
				if err := syscall.Kill(s.pid, syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				code, took := s.end()
				early := name == "without a coordinator" && code == -1 // the signal may come before main
				if code != 0 && !early || took > soon {
					t.Errorf("exit code %d after %v\n%s", code, took, s.said)
				}
				t.Logf("%v", took.Round(time.Millisecond))
				b.nothingLeft(t, name)
				if files := b.temporary(); len(files) > 0 {
					t.Errorf("%q are left", files)
				}
			}
		})
	}
}

// TestKilledAgentIsCleanedUp: what an agent that was killed left in the directory of
// temporary files, tare clean removes.
func TestKilledAgentIsCleanedUp(t *testing.T) {
	times := 1
	if os.Getenv("TARE_SOAK") == "1" {
		times = 100
	}
	t.Parallel()
	b := newBench(t)
	b.cache = t.TempDir() // tare clean waits for who measures with it
	for range times {
		s := b.join(t, true)
		s.study(t)
		s.doing(t, "study s")
		for range 500 {
			if files, _ := filepath.Glob(filepath.Join(b.tmp, "tare-*")); len(files) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.end()
		s.hub.Close()
	}
	b.nothingLeft(t, "after it was killed")
	if files, _ := filepath.Glob(filepath.Join(b.tmp, "*")); len(files) == 0 {
		t.Error("nothing was left that could be removed")
	}
	stdout, stderr, code := b.run(t, "clean")
	if files := b.temporary(); code != 0 || len(files) > 0 {
		t.Errorf("exit code %d, %q are left\n%s%s", code, files, stdout, stderr)
	}
}
