package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/docs"
	"github.com/tarebench/tare/load"
)

// host is a machine that sshd makes of this one: a directory of its own is its
// home.
type host struct {
	home string
	path string // to put before PATH: an ssh that knows it by its name
}

// newHost starts an sshd on loopback, for a host lab.
func newHost(t *testing.T) host {
	t.Helper()
	return newHosts(t, "lab")[0]
}

// newHosts starts an sshd on loopback for each name. One ssh knows them all.
func newHosts(t *testing.T, names ...string) (all []host) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts agents that build what they measure")
	}
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
	path := filepath.Join(dir, "bin")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Skipf("no key can be made: %v: %s", err, out)
		}
	}
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Fields(string(caches)) // of the go command, which else compiles everything for each home
	_ = os.MkdirAll("/run/sshd", 0o755)    // Debian's needs it, and makes it when its service starts
	known := ""
	for _, name := range names {
		h := host{home: filepath.Join(dir, "home-"+name), path: path}
		if err := os.Mkdir(h.home, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		login := file("login-"+name, fmt.Sprintf("#!/bin/sh\ncd %[1]s && export HOME=%[1]s TARE_CACHE=%[1]s/.cache/tare TARE_LOCK=test-%[2]s-%[3]s GOCACHE=%[4]s GOMODCACHE=%[5]s TARE_CATALOG=%[6]s && exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n", h.home, filepath.Base(filepath.Dir(dir)), name, kept[0], kept[1], os.Getenv("TARE_CATALOG")), 0o700)
		conf := file(name+".conf", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nForceCommand %s\n", port, dir, dir, login), 0o600)
		known += fmt.Sprintf("Host %s\n  HostName 127.0.0.1\n  Port %d\n  IdentityFile %s/user\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n", name, port, dir)
		cmd := exec.Command(sshd, "-D", "-e", "-f", conf)
		if err := cmd.Start(); err != nil {
			t.Skipf("sshd does not start: %v", err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		all = append(all, h)
	}
	client := file("ssh.conf", known, 0o600)
	file("bin/ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, client), 0o700)
	for _, name := range names {
		var out []byte
		for try := 0; ; try++ {
			if out, err = exec.Command(filepath.Join(path, "ssh"), "-o", "BatchMode=yes", name, "true").CombinedOutput(); err == nil {
				break
			}
			if try == 100 {
				t.Skipf("sshd lets nobody in here: %v: %s", err, out)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return all
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
	t.Parallel()
	h := newHost(t)
	b := newBench(t)
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
	if os.Getenv("TARE_SOAK") == "" {
		return
	}
	again := h.at(b.command("run", "json-encode", "--rounds", "2", "--contender", "jsoniter-fastest", "--workload", "devices-50/marshal", "--on", "ssh:lab"))
	pipe, err := again.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	first := time.Duration(0)
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		if roundLine.MatchString(lines.Text()) && first == 0 {
			first = time.Since(began)
		}
	}
	if err := again.Wait(); err != nil || first == 0 {
		t.Errorf("again: %v, first round after %v", err, first)
	}
	t.Logf("once more, with tare and its builds there: the first round began after %v", first.Round(time.Millisecond))
}

// roundLine matches the line of progress with which the rounds begin.
var roundLine = regexp.MustCompile(`[0-9]+ rounds of .* planned`)

// TestKilledCoordinatorLeavesNothing: after kill -9 of the coordinator the agent of
// the host ends, and what it had started.
func TestKilledCoordinatorLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	b := newBench(t)
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
	var said []string
	for lines := bufio.NewScanner(errs); !measuring && lines.Scan(); {
		said = append(said, lines.Text())
		measuring = roundLine.MatchString(lines.Text())
	}
	if !measuring {
		t.Fatalf("it never measured: %q", said)
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

// TestLoadOverSSH: steps of a rate are sent from this machine and from one over SSH, and have lines and intervals.
func TestLoadOverSSH(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	b := newBench(t)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	cmd := h.at(b.command("load", "--rate", "step:100/s,300/s", "--slo", "p50<10s,errors<99%", "-c", "4", "-d", "2s", "--warm", "0s", "--on", "local,ssh:lab", "--json", s.URL))
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
	if len(d.Generators) != 2 || d.RateAsked < 199 || d.RateAsked > 201 || d.Connections != 4 || len(d.Steps) != 2 || len(d.SLO) != 2 {
		t.Fatalf("%s", out)
	}
	objectives := d.SLO
	for i, step := range d.Steps {
		if rate := []float64{100, 300}[i]; step.RateAsked != rate || step.At != float64(i) || step.Connections != 4 {
			t.Errorf("step %d: %+v", i, step)
		}
		objectives = append(objectives, step.Objectives...)
	}
	for _, o := range objectives {
		if o.Interval == nil {
			t.Errorf("%s has no interval", o.Objective)
		}
	}
}

// TestStandingAgent: an agent joins by the line that tare fleet prints, is shown,
// and takes part in a load.
func TestStandingAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts agents and studies")
	}
	t.Parallel() // it waits for most of its time
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	stdout, stderr, code := b.run(t, "fleet", "--listen", addr, "--agent", "rack-7", "--wait", "100ms")
	_, line, found := strings.Cut(stderr, "rack-7 joins by: tare ")
	line, rest, _ := strings.Cut(line, "\n")
	_, token, _ := strings.Cut(rest, "TOKEN is a copy of ")
	if code != 0 || !found || strings.TrimSpace(stdout) != "no agent joined" {
		t.Fatalf("%d, %q, %q", code, stdout, stderr)
	}
	words := strings.Fields(strings.Replace(line, "TOKEN", strings.TrimSpace(token), 1))
	agent := b.command(words...)
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
	stdout, stderr, code = b.in(t, small(t), "bench", "--base", "HEAD", "--rounds", "1", "--listen", addr, "--on", "agent:rack-7")
	if code == 0 || stdout != "" || !strings.Contains(stderr, "--allow-commands") {
		t.Errorf("code that the agent was not allowed: %d, %q, %q", code, stdout, stderr)
	}
}

// small is a repository with two benchmarks, a change, a file that git does not know
// and one that it ignores.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	write(t, dir, "go.mod", "module example.com/small\n\ngo 1.25\n")
	write(t, dir, ".gitignore", "*.log\n")
	write(t, dir, "sum.go", "package small\n\n// Sum adds.\nfunc Sum(xs []int) (n int) {\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n")
	write(t, dir, "sum_test.go", "package small\n\nimport \"testing\"\n\nfunc BenchmarkA(b *testing.B) {\n\tfor b.Loop() {\n\t\tSum(xs())\n\t}\n}\n\nfunc BenchmarkB(b *testing.B) {\n\tfor b.Loop() {\n\t\tSum(xs())\n\t}\n}\n\nfunc xs() []int { return make([]int, 100) }\n")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "-m", "one")
	write(t, dir, "sum.go", "package small\n\n// Sum adds.\nfunc Sum(xs []int) int { return more(xs) }\n")
	write(t, dir, "more.go", "package small\n\nfunc more(xs []int) (n int) {\n\tfor i := range xs {\n\t\tn += xs[i] * xs[i]\n\t}\n\treturn n\n}\n")
	write(t, dir, "noise.log", "ignored")
	return dir
}

// TestBenchOverSSH: two machines measure both sides of a repository, each by itself;
// then each measures one of its benchmarks.
func TestBenchOverSSH(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	b := newBench(t)
	dir := small(t)
	before := git(t, dir, "status", "--porcelain")
	measure := func(args ...string) (res tare.Result) {
		t.Helper()
		cmd := h.at(b.command(append([]string{"bench", "--base", "HEAD", "--rounds", "1", "--on", "local,ssh:lab", "--json"}, args...)...))
		var errs strings.Builder
		cmd.Dir, cmd.Stderr = dir, &errs
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &res)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, errs.String())
		}
		published(t, string(out))
		return res
	}
	res := measure()
	if base, _ := res.Contender("base"); len(res.Machines) != 2 || len(res.OverMachines) == 0 || !strings.HasPrefix(base.Version, "HEAD (") || !strings.Contains(res.Question, base.Version) {
		t.Errorf("%d machines, %d verdicts over them, base is %s: %s", len(res.Machines), len(res.OverMachines), base.Version, res.Question)
	}
	for _, m := range res.Machines {
		if m.Rounds != 1 || len(m.Effects) == 0 {
			t.Errorf("%s measured %d rounds", m.Name, m.Rounds)
		}
	}
	res = measure("--shard", "machines")
	if len(res.Workloads) != 2 || !res.Divided() || res.MeasuredBy("example.com/small.BenchmarkA") != "local" || res.MeasuredBy("example.com/small.BenchmarkB") != "lab" {
		t.Errorf("%+v of %+v", res.Workloads, res.Machines)
	}
	if after := git(t, dir, "status", "--porcelain"); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
	if left := h.running(t); len(left) > 0 {
		t.Errorf("still running there: %q", left)
	}
	sent, _ := os.ReadDir(filepath.Join(h.home, ".cache", "tare", "sent"))
	if len(sent) != 2 { // the base and the worktree, once for both runs
		t.Errorf("%d files were sent", len(sent))
	}
}

// TestGateOverSSH: each machine has rows of its own, in one table.
func TestGateOverSSH(t *testing.T) {
	if os.Getenv("TARE_SOAK") == "" {
		t.Skip("takes minutes; TARE_SOAK=1 runs it")
	}
	h := newHost(t)
	b := newBench(t)
	t.Chdir(small(t))
	cmd := h.at(b.command("gate", "--base", "HEAD", "--rounds", "1", "--on", "local,ssh:lab", "--json"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var rep gate.Report
	if err == nil {
		err = json.Unmarshal(out, &rep)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	rows := map[string]int{}
	for _, r := range rep.Rows {
		rows[r.Machine]++
	}
	if len(rows) != 2 || rows["local"] == 0 || rows["local"] != rows["lab"] || len(rep.Results) != 2 || len(rep.OverMachines) == 0 {
		t.Errorf("rows %v of %d results\n%s", rows, len(rep.Results), errs.String())
	}
}

// TestGateBesidesOverSSH: the study and the server that tare.yaml names are measured
// on each machine, or on the first where benchmarks are divided.
func TestGateBesidesOverSSH(t *testing.T) {
	if os.Getenv("TARE_SOAK") == "" {
		t.Skip("takes minutes; TARE_SOAK=1 runs it")
	}
	h := newHost(t)
	b := newBench(t)
	dir := besides(t)
	write(t, dir, "sum/sum_test.go", "package sum\n\nimport \"testing\"\n\nfunc BenchmarkA(b *testing.B) {\n\tfor b.Loop() {\n\t\t_ = make([]int, 100)\n\t}\n}\n\nfunc BenchmarkB(b *testing.B) {\n\tfor b.Loop() {\n\t\t_ = make([]int, 100)\n\t}\n}\n")
	git(t, dir, "add", "sum")
	git(t, dir, "commit", "--quiet", "-m", "benchmarks")
	t.Chdir(dir)
	for _, c := range []struct {
		args []string
		want map[string]string // machines of each, by the benchmark
	}{
		{nil, map[string]string{"BenchmarkA": "lab local", "BenchmarkB": "lab local", "encode/mine devices-5/marshal": "lab local", "load api": "lab local"}},
		{[]string{"--shard", "machines"}, map[string]string{"BenchmarkA": "local", "BenchmarkB": "lab", "encode/mine devices-5/marshal": "local", "load api": "local"}},
	} {
		cmd := h.at(b.command(append([]string{"gate", "--base", "HEAD", "--rounds", "1", "--on", "local,ssh:lab", "--json"}, c.args...)...))
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		var rep gate.Report
		code := cmd.ProcessState.ExitCode() // mine allocates twice as often; on a busy machine a load can be void
		if code != cmdenv.ExitNotMet && code != cmdenv.ExitVoid || json.Unmarshal(out, &rep) != nil {
			t.Fatalf("%q: %v\n%s", c.args, err, errs.String())
		}
		on := map[string]map[string]bool{}
		for _, r := range rep.Rows {
			name := strings.TrimPrefix(r.Benchmark, "example.com/shop/sum.")
			if on[name] == nil {
				on[name] = map[string]bool{}
			}
			if on[name][r.Machine] = true; r.Outcome == "void" {
				t.Logf("%q: %s %s on %s is void: %s", c.args, name, r.Metric, r.Machine, r.Sentence)
			}
			if name == "encode/mine devices-5/marshal" && r.Metric == "allocs" && r.Outcome != "worse" {
				t.Errorf("%q: %s on %s is %s", c.args, name, r.Machine, r.Outcome)
			}
		}
		got := map[string]string{}
		for name, machines := range on {
			got[name] = strings.Join(slices.Sorted(maps.Keys(machines)), " ")
		}
		if !maps.Equal(got, c.want) || len(rep.Skipped) > 0 {
			t.Errorf("%q: rows %v, want %v; left out %v\n%s", c.args, got, c.want, rep.Skipped, errs.String())
		}
	}
	if left := h.running(t); len(left) > 0 {
		t.Errorf("still running there: %q", left)
	}
}

// TestJSONTypeOverSSH: documents are decoded into a type of the worktree, on each
// machine.
func TestJSONTypeOverSSH(t *testing.T) {
	h := newHost(t)
	b := newBench(t)
	t.Chdir(shop(t))
	write(t, ".", "order_id.go", "package shop\n\n// Key is new in the worktree.\ntype Key struct {\n\tID int64 `json:\"id\"`\n}\n")
	cmd := h.at(b.command("json", "orders.ndjson", "--type", "./.Key", "--op", "typed", "--only", "goccy", "--rounds", "1", "--on", "local,ssh:lab", "--json"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var res tare.Result
	if err == nil {
		err = json.Unmarshal(out, &res)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if len(res.Machines) != 2 || len(res.OverMachines) == 0 || res.Machines[0].Rounds != 1 || res.Machines[1].Rounds != 1 || !strings.Contains(res.Question, "Key") {
		t.Errorf("%s: %+v\n%s", res.Question, res.Machines, errs.String())
	}
	if left := h.running(t); len(left) > 0 {
		t.Errorf("still running there: %q", left)
	}
}

// shop is a copy of examples/shop with a history: a base and a change.
func shop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cp", "-r", "../../../../examples/shop/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "-m", "one")
	git(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	git(t, dir, "checkout", "--quiet", "-b", "change")
	write(t, dir, "change.go", "package shop\n\n// Changed is new.\nconst Changed = true\n")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "-m", "two")
	return dir
}

// TestFleetPage follows the shell blocks of docs/fleet.md, in a copy of examples/shop
// with a history, over hosts a and b. A few seconds and rounds are enough, and few
// requests; TARE_DOCS=whole runs them as they stand.
func TestFleetPage(t *testing.T) {
	t.Parallel()
	if os.Getenv("TARE_SOAK") == "" {
		t.Skip("takes minutes; TARE_SOAK=1 runs it")
	}
	b := newBench(t)
	h := newHosts(t, "a", "b")[0]
	blocks, err := docs.Blocks("../../../..", []string{"docs/fleet.md"})
	if err != nil {
		t.Fatal(err)
	}
	dir := shop(t)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	run := 0
	for _, block := range blocks {
		if !block.Is(docs.Hosts) {
			continue
		}
		for _, line := range block.Commands() {
			run++
			typed := strings.ReplaceAll(line, "http://127.0.0.1:8080", s.URL) // the port is somebody's, perhaps
			if os.Getenv("TARE_DOCS") != "whole" {
				typed = strings.NewReplacer("--rounds 18", "--rounds 1", "6000/s", "300/s", "-d 30s", "-d 1s").Replace(typed)
			}
			began := time.Now()
			cmd := exec.Command("sh", "-eu", "-c", strings.Replace(typed, "tare ", b.bin+" ", 1))
			cmd.Dir, cmd.Env = dir, b.command().Env
			if out, err := h.at(cmd).CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", block, line, err, out)
			}
			t.Logf("%s: %.0f s", line, time.Since(began).Seconds())
		}
	}
	if run < 6 {
		t.Errorf("%d commands were run", run)
	}
}
