package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a process of the test below is; empty: the test itself.
const (
	roleVariable = "TARE_TEST_ROLE"
	roleHub      = "hub"   // in a namespace of its own
	roleAgent    = "agent" // in another
)

// TestFaultsInNamespaces has a coordinator and three agents, each a process in a network namespace
// of its own. One agent is killed in a round, one is cut off, one is paused for longer than a
// coordinator waits: every round ends in exactly one result. Without the right to make namespaces
// they are processes, and none is cut off. With TARE_SOAK=1 it is ten studies, at the times that
// tare has, with 10 s without a network.
func TestFaultsInNamespaces(t *testing.T) {
	switch os.Getenv(roleVariable) {
	case roleHub:
		faultsAmongAgents(t)
		return
	case roleAgent:
		agentProcess(t)
		return
	}
	t.Parallel()
	spaces, why := namespaces(t)
	if why != "" {
		t.Logf("agents are processes of one network, and none is cut off: %s", why)
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFaultsInNamespaces$", "-test.v", "-test.timeout=30m")
	if len(spaces) > 0 {
		cmd = exec.Command("ip", append([]string{"netns", "exec", spaces[0]}, cmd.Args...)...)
	}
	cmd.Env = append(os.Environ(), roleVariable+"="+roleHub, "TARE_TEST_DIR="+dir, "TARE_TEST_SPACES="+strings.Join(spaces, ","))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "rounds in results") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// namespaces makes four, of which the first has a link to each of the others, or
// says why it cannot.
func namespaces(t *testing.T) (names []string, why string) {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		return nil, "there is no ip: apt-get install iproute2"
	}
	ip := func(args ...string) error {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %s", strings.Join(args, " "), bytes.TrimSpace(out))
		}
		return nil
	}
	for i := range 4 {
		name := fmt.Sprintf("tare-test-%d-%d", os.Getpid(), i)
		if err := ip("netns", "add", name); err != nil {
			return nil, err.Error()
		}
		t.Cleanup(func() { _ = ip("netns", "delete", name) })
		names = append(names, name)
	}
	for i := 1; i < 4; i++ {
		here, there := fmt.Sprintf("to%d", i), "back"
		for _, args := range [][]string{
			{"-n", names[0], "link", "add", here, "type", "veth", "peer", "name", there, "netns", names[i]},
			{"-n", names[0], "address", "add", address(i, 1) + "/30", "dev", here},
			{"-n", names[i], "address", "add", address(i, 2) + "/30", "dev", there},
			{"-n", names[0], "link", "set", here, "up"},
			{"-n", names[i], "link", "set", there, "up"},
		} {
			if err := ip(args...); err != nil {
				return nil, err.Error()
			}
		}
	}
	return names, ""
}

// address is one end of the link to agent i.
func address(i, end int) string { return fmt.Sprintf("10.213.%d.%d", i, end) }

// faultTimes are those of a study with faults.
func faultTimes() (of protocolTimes, cut time.Duration) {
	if os.Getenv("TARE_SOAK") != "" {
		return defaultTimes(), 10 * time.Second
	}
	of = shortTimes()
	of.lostAfter = 4 * time.Second
	return of, time.Second
}

// faultsAmongAgents is the coordinator.
func faultsAmongAgents(t *testing.T) {
	studies := 1
	if os.Getenv("TARE_SOAK") != "" {
		studies = 10
	}
	counts := map[string]int{}
	for n := range studies {
		t.Run(fmt.Sprint(n), func(t *testing.T) { studyWithFaults(t, n, counts) })
	}
	t.Logf("%d of %d rounds in results, %d twice; %v", counts["rounds"], studies*18, counts["twice"], counts)
	if counts["rounds"] != studies*18 || counts["twice"] > 0 {
		t.Errorf("%v", counts)
	}
}

// process is an agent's.
type process struct {
	*exec.Cmd
	pid int
}

// studyWithFaults is a study of three machines with six rounds each.
func studyWithFaults(t *testing.T, n int, counts map[string]int) {
	var spaces []string
	if text := os.Getenv("TARE_TEST_SPACES"); text != "" {
		spaces = strings.Split(text, ",")
	}
	dir := filepath.Join(os.Getenv("TARE_TEST_DIR"), fmt.Sprint(n))
	secrets, err := ReadSecrets(filepath.Join(dir, "secrets"))
	if err != nil {
		t.Fatal(err)
	}
	of, cut := faultTimes()
	listen := "127.0.0.1:0"
	if len(spaces) > 0 {
		listen = "0.0.0.0:0" // of a namespace that reaches nothing but the agents
	}
	h := hub(t, HubOptions{Listen: listen, Cert: secrets.Cert, Token: secrets.Token, times: of})
	_, port, err := net.SplitHostPort(h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"killed", "cut", "paused"}
	agents := map[string]*process{}
	for i, name := range names {
		args, host := []string{os.Args[0], "-test.run=^TestFaultsInNamespaces$", "-test.timeout=10m"}, "127.0.0.1"
		if len(spaces) > 0 {
			args, host = append([]string{"ip", "netns", "exec", spaces[i+1]}, args...), address(i+1, 1)
		}
		cmd := exec.Command(args[0], args[1:]...)
		pid := filepath.Join(dir, name+".pid")
		if err := secrets.MakeToken(name); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), roleVariable+"="+roleAgent, "TARE_TEST_NAME="+name, "TARE_TEST_PID="+pid,
			"TARE_TEST_ADDR="+net.JoinHostPort(host, port), "TARE_TEST_PRINT="+secrets.Fingerprint, "TARE_TEST_TOKEN="+secrets.TokenFile(name))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		a := &process{Cmd: cmd}
		agents[name] = a
		t.Cleanup(func() {
			if a.pid > 0 {
				_ = syscall.Kill(a.pid, syscall.SIGKILL)
			}
			_ = a.Process.Kill()
			_ = a.Wait()
		})
		if err := h.Await(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(pid)
		if _, errScan := fmt.Sscan(string(text), &a.pid); err != nil || errScan != nil {
			t.Fatalf("%v, %v", err, errScan)
		}
	}
	run := &StudyRun{Hub: h, Dir: filepath.Join(dir, "run"), Machines: names, Share: 6, Study: StudyOrder{Command: "run", ID: "s", Text: study, Seed: 5}, Say: func(name, line string) { t.Log(name + ": " + line) }}
	faults := make(chan struct{})
	go func() {
		defer close(faults)
		measuring := func(name string) {
			until(t, func() bool {
				run.mu.Lock()
				defer run.mu.Unlock()
				return run.pool != nil && run.pool.assignmentOf(name) != nil && len(run.pool.assignmentOf(name).rounds) > 1
			})
		}
		measuring("killed")
		_ = syscall.Kill(agents["killed"].pid, syscall.SIGKILL)
		measuring("paused")
		_ = syscall.Kill(agents["paused"].pid, syscall.SIGSTOP)
		if len(spaces) > 0 {
			measuring("cut")
			if out, err := exec.Command("ip", "link", "set", "to2", "down").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			time.Sleep(cut)
			if out, err := exec.Command("ip", "link", "set", "to2", "up").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
		time.Sleep(of.lostAfter + of.lostAfter/4 - cut)
		_ = syscall.Kill(agents["paused"].pid, syscall.SIGCONT)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	results, err := run.Run(ctx)
	<-faults
	seen := map[int]int{}
	for _, s := range run.pool.assignments {
		if s.state == lost {
			counts["orders lost"]++
		}
		for _, round := range s.rounds {
			if s.state == delivered {
				seen[round]++
			}
		}
	}
	total := 0
	for _, m := range results {
		total += m.Result.RoundsDone
		counts["rounds of "+m.Name] += m.Result.RoundsDone
	}
	for _, n := range seen {
		counts["twice"] += n - 1
	}
	if total != len(seen) || total != 18 {
		t.Errorf("%d rounds in results, %d by the journal: %v", total, len(seen), err)
	}
	counts["rounds"] += total
}

// agentProcess is an agent, until it is killed.
func agentProcess(t *testing.T) {
	of, _ := faultTimes()
	a := &Agent{Prefix: DefaultPrefix, times: of, Hello: Hello{Name: os.Getenv("TARE_TEST_NAME"), OS: "linux", Arch: "amd64"}}
	a.Study = func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		for done := 0; done < o.Most; done++ {
			more, err := task.Permit(ctx, done)
			if err != nil {
				return nil, err
			}
			if !more {
				return json.Marshal(result(o, done))
			}
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(300 * time.Millisecond):
			}
		}
		return json.Marshal(result(o, o.Most))
	}
	token, err := ReadToken(os.Getenv("TARE_TEST_TOKEN"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("TARE_TEST_PID"), []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = a.ServeJoined(t.Context(), Join{Addr: os.Getenv("TARE_TEST_ADDR"), Fingerprint: os.Getenv("TARE_TEST_PRINT"), Token: token})
}
