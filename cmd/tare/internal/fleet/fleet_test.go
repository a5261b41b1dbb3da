package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

const study = `{study: s, question: "q?", kinds: [codec], baseline: encoding-json, contenders: [encoding-json], metrics: [time],
  workloads: [{id: w, fixture: devices, n: 50, op: marshal}]}`

func order() Order { return Order{Protocol: Protocol, Study: study, Rounds: 18, Seed: 5} }

func TestHosts(t *testing.T) {
	if err := Hosts([]string{"local", "ssh:a", "ssh:me@b.example"}); err != nil {
		t.Error(err)
	}
	for _, on := range [][]string{{"a"}, {"ssh:"}, {"ssh:-oProxyCommand=sh"}, {"ssh:a b"}, {"ssh:a;b"}, {"local", "local"}, {""}} {
		if Hosts(on) == nil {
			t.Errorf("%q was taken", on)
		}
	}
}

// An agent takes no order but one of its protocol, for a study that it may carry
// out.
func TestOrders(t *testing.T) {
	if err := order().Check(false); err != nil {
		t.Fatal(err)
	}
	command := strings.Replace(study, "contenders: [encoding-json]", `contenders: [encoding-json, {id: x, url: "http://127.0.0.1:1"}]`, 1)
	for why, change := range map[string]func(*Order){
		"protocol":         func(o *Order) { o.Protocol = "tare.agent/0" },
		"number of rounds": func(o *Order) { o.Rounds = 0 },
		"not a number":     func(o *Order) { o.Rounds = maxRounds + 1 },
		"study":            func(o *Order) { o.Study = "{" },
		"--allow-commands": func(o *Order) { o.Study = command },
		"one machine": func(o *Order) {
			o.Study = strings.Replace(study, "contenders: [encoding-json]", `contenders: [encoding-json, {id: x, program: ./x}]`, 1)
		},
	} {
		o := order()
		change(&o)
		if err := o.Check(false); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	o := order()
	if o.Study = command; o.Check(true) != nil {
		t.Errorf("commands are allowed: %v", o.Check(true))
	}
}

func TestReadOrder(t *testing.T) {
	line, err := json.Marshal(order())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadOrder(bufio.NewReader(strings.NewReader(string(line) + "\nrest")))
	if err != nil || got.Study != study || got.Seed != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	for why, text := range map[string]string{
		"ended": string(line), "not one": "{\n", "longer": strings.Repeat("x", maxOrder+1),
	} {
		if _, err := ReadOrder(bufio.NewReader(strings.NewReader(text))); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func result() *tare.Result {
	return &tare.Result{
		Schema: tare.ResultSchema, Study: "s", Seed: "5", RoundsDone: 18, Metrics: []string{"time"}, Machine: tare.Machine{OS: "linux", Arch: "amd64"},
		Rounds:      []tare.Effects{{Workload: "w", Metric: "time", A: "a", B: "b", Effects: []float64{0.1, 0.2}}},
		Comparisons: []tare.Comparison{{Workload: "w", Metric: "time", Contender: "a", Against: "b", Ratio: 1.1, Low: 1, High: 1.2}},
	}
}

// What an agent sends back is not believed where it cannot be.
func TestForgedResults(t *testing.T) {
	if _, err := order().checkResult("s", []*tare.Result{result()}); err != nil {
		t.Fatal(err)
	}
	for why, change := range map[string]func(*tare.Result){
		"study":               func(r *tare.Result) { r.Study = "other" },
		"seed":                func(r *tare.Result) { r.Seed = "6" },
		"19 rounds":           func(r *tare.Result) { r.RoundsDone = 19 },
		"0 rounds":            func(r *tare.Result) { r.RoundsDone = 0 },
		"effects":             func(r *tare.Result) { r.RoundsDone = 1 },
		"impossible ratio":    func(r *tare.Result) { r.Rounds[0].Effects[0] = 100 },
		"impossible interval": func(r *tare.Result) { r.Comparisons[0].Low = 1.15 },
		"several machines":    func(r *tare.Result) { r.Machines = make([]tare.OnMachine, 1) },
	} {
		r := result()
		change(r)
		if _, err := order().checkResult("s", []*tare.Result{r}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if _, err := order().checkResult("s", nil); err == nil {
		t.Error("no result was taken")
	}
}

// sshd stands in for ssh and a host: it runs the command with a home directory
// of its own. The executable that it copies is a script that does as an agent.
func sshd(t *testing.T, agent string) (f *Fleet, home string, copies func() int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts of sh")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, err := json.Marshal(result())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "result"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	home = filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	var installed atomic.Int32
	ssh := `for last; do :; done
case "$last" in *"cat >"*) echo copying >&2;; esac
cd "$(dirname "$0")/home" && exec sh -c "$last"
`
	f = &Fleet{Self: write("tare", strings.ReplaceAll(agent, "RESULT", filepath.Join(dir, "result"))), SSH: write("ssh", ssh), Say: func(_, line string) {
		if line == "copying" {
			installed.Add(1)
		}
	}}
	return f, home, func() int { return int(installed.Load()) }
}

// answers is an agent that answers with the seed of its order.
const answers = `read -r order
seed=${order##*\"seed\":}
seed=${seed%%[,\}]*}
echo measuring >&2
sed "s/\"seed\":\"5\"/\"seed\":\"$seed\"/" RESULT
`

// The executable goes to each host once, and every machine gets a seed of its own.
func TestRunOnHosts(t *testing.T) {
	f, _, copies := sshd(t, answers)
	for range 2 {
		results, err := f.Run(t.Context(), []string{"ssh:a", "local"}, "s", order())
		if err != nil || len(results) != 2 || results[0].Name != "a" || results[0].Result.Seed != "5" || results[1].Result.Seed != "6" {
			t.Fatalf("%+v, %v", results, err)
		}
	}
	if copies() != 1 {
		t.Errorf("the executable was copied %d times", copies())
	}
}

// A machine that fails costs its own measurements and no others'.
func TestHostFails(t *testing.T) {
	f, _, _ := sshd(t, `case "$0" in *agent-*) echo "no room" >&2; exit 1;; esac`+"\n"+answers)
	results, err := f.Run(t.Context(), []string{"ssh:a", "local"}, "s", order())
	if len(results) != 1 || results[0].Name != "local" || err == nil || !strings.Contains(err.Error(), "ssh:a: exit status 1: no room") {
		t.Errorf("%+v, %v", results, err)
	}
}

// What is no result, or no end of one, is refused.
func TestBadAnswers(t *testing.T) {
	for why, agent := range map[string]string{
		"of seed 5": "read -r order; cat RESULT",
		"result":    "read -r order; echo nonsense",
	} {
		f, _, _ := sshd(t, agent)
		o := order()
		o.Seed = 9
		if _, err := f.Run(t.Context(), []string{"ssh:a"}, "s", o); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	b := &bounded{most: 3, over: func() {}}
	if n, err := b.Write([]byte("four")); n != 0 || err == nil || b.buf.Len() != 4 {
		t.Errorf("%d, %v, %d bytes kept", n, err, b.buf.Len())
	}
}

// The agent's stdin ends with the coordinator's interest in it.
func TestAgentEndsWithCoordinator(t *testing.T) {
	f, home, _ := sshd(t, `read -r order; echo $$ > pid; while read -r more; do :; done`)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		_, err := f.Run(ctx, []string{"ssh:a"}, "s", order())
		ran <- err
	}()
	wait := func(name string) {
		for range 3000 {
			if _, err := os.Stat(filepath.Join(home, name)); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("no file %s after half a minute", name)
	}
	wait("pid")
	cancel()
	if err := <-ran; err == nil {
		t.Error("a run that was cancelled has no error")
	}
}
