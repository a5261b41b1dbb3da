package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load"
)

// host is a machine that sshd makes of this one: a directory of its own is its
// home.
type host struct {
	home string
	path string // to put before PATH: an ssh that knows it as lab
}

// newHost starts an sshd on loopback.
func newHost(t *testing.T) host {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd = "/usr/sbin/sshd"; exec.Command("test", "-x", sshd).Run() != nil {
			t.Skip("there is no sshd: apt-get install openssh-server")
		}
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("there is no ssh: apt-get install openssh-client")
	}
	dir := t.TempDir()
	h := host{home: filepath.Join(dir, "home"), path: filepath.Join(dir, "bin")}
	for _, d := range []string{h.home, h.path} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Skipf("no key can be made: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	login := file("login", fmt.Sprintf("#!/bin/sh\ncd %s && export HOME=%s TARE_CACHE=%s/.cache/tare TARE_LOCK=test-%d-host && exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n", h.home, h.home, h.home, os.Getpid()), 0o700)
	conf := file("sshd.conf", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nForceCommand %s\n", port, dir, dir, login), 0o600)
	client := file("ssh.conf", fmt.Sprintf("Host lab\n  HostName 127.0.0.1\n  Port %d\n  IdentityFile %s/user\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n", port, dir), 0o600)
	file("bin/ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, client), 0o700)
	_ = os.MkdirAll("/run/sshd", 0o755) // Debian's needs it, and makes it when its service starts
	cmd := exec.Command(sshd, "-D", "-e", "-f", conf)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Skipf("sshd does not start: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 {
		if err = exec.Command(filepath.Join(h.path, "ssh"), "-o", "BatchMode=yes", "lab", "true").Run(); err == nil {
			return h
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	t.Skipf("sshd lets nobody in here: %v: %s", err, said.String())
	return h
}

// at is a command with the host's ssh.
func (h host) at(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(cmd.Env, "PATH="+h.path+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

// running are the processes of the host's: those that run what lies in its home.
func (h host) running(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, exe := range all {
		if path, err := os.Readlink(exe); err == nil && strings.HasPrefix(path, h.home) {
			out = append(out, exe+" "+path)
		}
	}
	return out
}

// TestStudyOverSSH: a study runs on this machine and on one over SSH, rounds on
// each, and nothing but builds stays there.
func TestStudyOverSSH(t *testing.T) {
	b := newBench(t)
	h := newHost(t)
	old := filepath.Join(h.home, ".cache", "tare", "agent-old")
	if err := errors.Join(os.MkdirAll(filepath.Dir(old), 0o700), os.WriteFile(old, nil, 0o700), os.Chtimes(old, time.Now(), time.Now().AddDate(0, 0, -9))); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cmd := h.at(b.command("run", "json-encode", "--rounds", "2", "--contender", "jsoniter-fastest", "--workload", "devices-50/marshal", "--on", "local,ssh:lab", "--json"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var res tare.Result
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatal(err)
	}
	if len(res.Machines) != 2 || res.Machines[0].Name != "local" || res.Machines[1].Name != "lab" || res.Machines[0].Rounds+res.Machines[1].Rounds != 4 || len(res.OverMachines) == 0 {
		t.Fatalf("%+v\n%s", res.Machines, errs.String())
	}
	if left := h.running(t); len(left) > 0 {
		t.Errorf("still running there: %q", left)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a copy of nine days ago is still there")
	}
	stays, _ := os.ReadDir(h.home)
	for _, e := range stays {
		if name := e.Name(); name != ".cache" && name != ".config" && name != "go" { // the last two are the go command's
			t.Errorf("stays there: %s", name)
		}
	}
	t.Logf("from nothing to the verdicts in %v", time.Since(began).Round(time.Millisecond))
}

// TestKilledCoordinatorLeavesNothing: after kill -9 of the coordinator the agent of
// the host ends, and what it had started.
func TestKilledCoordinatorLeavesNothing(t *testing.T) {
	b := newBench(t)
	h := newHost(t)
	cmd := h.at(b.command("run", "json-encode", "--rounds", "200", "--contender", "jsoniter-fastest", "--workload", "devices-50/marshal", "--on", "ssh:lab"))
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	measuring := false
	for lines := bufio.NewScanner(errs); !measuring && lines.Scan(); {
		measuring = strings.Contains(lines.Text(), "round 1 of")
	}
	if !measuring {
		t.Fatal("it never measured")
	}
	t.Logf("from the command to the first round, builds included: %v", time.Since(began).Round(time.Millisecond))
	if len(h.running(t)) == 0 {
		t.Fatal("nothing runs there")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	killed := time.Now()
	for len(h.running(t)) > 0 {
		if time.Since(killed) > time.Minute {
			t.Fatalf("a minute after the coordinator was killed there run %q", h.running(t))
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("nothing ran there %v after kill -9", time.Since(killed).Round(time.Millisecond))
}

// TestLoadOverSSH: a rate is sent from this machine and from one over SSH.
func TestLoadOverSSH(t *testing.T) {
	b := newBench(t)
	h := newHost(t)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	cmd := h.at(b.command("load", "--rate", "200/s", "-c", "4", "-d", "2s", "--warm", "100ms", "--on", "local,ssh:lab", "--json", s.URL))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var d load.Document
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Generators) != 2 || d.RateAsked < 199 || d.RateAsked > 201 || d.Connections != 4 {
		t.Errorf("%s", out)
	}
}

// TestStandingAgent: an agent joins by the line that tare fleet prints, is shown,
// and takes part in a load.
func TestStandingAgent(t *testing.T) {
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	stdout, stderr, code := b.run(t, "fleet", "--listen", addr, "--wait", "100ms")
	_, line, found := strings.Cut(stderr, "an agent joins by: tare ")
	line, rest, _ := strings.Cut(line, "\n")
	_, token, _ := strings.Cut(rest, "TOKEN is a copy of ")
	if code != 0 || !found || strings.TrimSpace(stdout) != "no agent joined" {
		t.Fatalf("%d, %q, %q", code, stdout, stderr)
	}
	words := strings.Fields(strings.Replace(line, "TOKEN", strings.TrimSpace(token), 1))
	agent := b.command(append(words, "--name", "rack-7")...)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Process.Kill(); _ = agent.Wait() }()
	stdout, stderr, code = b.run(t, "fleet", "--listen", addr, "--wait", "5s", "--json")
	if code != 0 || !strings.Contains(stdout, `"rack-7"`) {
		t.Fatalf("%d, %q, %q", code, stdout, stderr)
	}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	stdout, stderr, code = b.run(t, "load", "--rate", "100/s", "-c", "2", "-d", "1s", "--warm", "0s", "--listen", addr, "--on", "agent:rack-7", "--json", s.URL)
	if code != 0 || !strings.Contains(stdout, `"rack-7"`) {
		t.Errorf("%d, %q, %q", code, stdout, stderr)
	}
	stdout, stderr, code = b.run(t, "load", "--rate", "100/s", "-c", "2", "-d", "1s", "--listen", addr, "--on", "agent:rack-7", "http://192.0.2.1/")
	if code != 2 || !strings.Contains(stderr, "--allow-target") {
		t.Errorf("a target that the agent was not allowed: %d, %q, %q", code, stdout, stderr)
	}
}
