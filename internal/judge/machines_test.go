package judge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// onMachine is a result of 18 rounds in which a takes ratio of b's time.
func onMachine(seed uint64, ratio float64, change func(*tare.Result)) *tare.Result {
	rng := rand.New(rand.NewPCG(seed, 7))
	var effects []float64
	for range 18 {
		effects = append(effects, math.Log(ratio)+0.01*rng.NormFloat64())
	}
	r := &tare.Result{
		Study: "s", Question: "q",
		Design: tare.Design{
			Metrics:    []string{"time"},
			Contenders: []tare.Contender{{ID: "b", Role: tare.RoleBaseline, Build: tare.Build{Go: "go1.26.8"}}, {ID: "a", Build: tare.Build{Go: "go1.26.8"}}},
			Workloads:  []tare.Workload{{ID: "w", SHA256: "11"}},
		},
		Run: tare.Run{Machine: tare.Machine{OS: "linux", Arch: "amd64"}},
		Measured: tare.Measured{
			RoundsDone:  18,
			Rounds:      []tare.Effects{{Workload: "w", Metric: "time", A: "a", B: "b", Effects: effects}},
			Comparisons: []tare.Comparison{{Workload: "w", Contender: "a", Metric: "time", Against: "b", Ratio: ratio, Low: ratio * 0.99, High: ratio * 1.01}},
		},
	}
	if change != nil {
		change(r)
	}
	return r
}

func machinesOf(results ...*tare.Result) []Measured {
	var out []Measured
	for i, r := range results {
		out = append(out, Measured{Name: string(rune('A' + i)), Result: r})
	}
	return out
}

func TestOverMachines(t *testing.T) {
	arm := func(r *tare.Result) { r.Machine.Arch = "arm64" }
	void := func(r *tare.Result) {
		r.Findings = []tare.Finding{{Severity: tare.Void, Check: "x", Contender: "a"}}
	}
	for name, c := range map[string]struct {
		of   []Measured
		want []string
	}{
		"everywhere":    {machinesOf(onMachine(1, 0.8, nil), onMachine(2, 0.8, nil), onMachine(3, 0.8, nil)), []string{"Less: holds on 3 of 3 machines; over machines the interval excludes 1."}},
		"two":           {machinesOf(onMachine(1, 1.2, nil), onMachine(2, 1.2, nil)), []string{"More: holds on 2 of 2 machines."}},
		"not on C":      {machinesOf(onMachine(1, 0.8, nil), onMachine(2, 0.8, nil), onMachine(3, 1, nil)), []string{"Less on A, B but not on C; the machines differ in how much."}},
		"either way":    {machinesOf(onMachine(1, 0.8, nil), onMachine(2, 1.2, nil)), []string{"Less on A, more on B; the machines differ in how much."}},
		"nowhere":       {machinesOf(onMachine(1, 1, nil), onMachine(2, 1, nil), onMachine(3, 1, nil)), []string{"No difference shown on any of 3 machines."}},
		"void on B":     {machinesOf(onMachine(1, 0.8, nil), onMachine(2, 0.8, void)), []string{"Less: holds on 1 of 1 machine; void on B."}},
		"void":          {machinesOf(onMachine(1, 0.8, void), onMachine(2, 0.8, void)), []string{"Void on every machine."}},
		"kinds are two": {machinesOf(onMachine(1, 0.8, nil), onMachine(2, 0.8, nil), onMachine(3, 1.2, arm)), []string{"Less: holds on 2 of 2 machines.", "More: holds on 1 of 1 machine."}},
	} {
		r, err := OverMachines(c.of, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, o := range r.OverMachines {
			got = append(got, o.Sentence)
			if pooled := len(o.Less)+len(o.More)+len(o.Open) > 2; pooled != (o.Ratio > 0) {
				t.Errorf("%s: ratio %g over machines", name, o.Ratio)
			}
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(r.Machines) != len(c.of) || len(c.of[0].Result.Machines) > 0 {
			t.Errorf("%s: %d machines; the first result has %d", name, len(r.Machines), len(c.of[0].Result.Machines))
		}
	}
}

// What is not of one question is refused, with the reason.
func TestMachinesThatCannotBeCompared(t *testing.T) {
	for why, change := range map[string]func(*tare.Result){
		"study":    func(r *tare.Result) { r.Study = "other" },
		"metrics":  func(r *tare.Result) { r.Metrics = []string{"cpu"} },
		"input":    func(r *tare.Result) { r.Workloads[0].SHA256 = "22" },
		"versions": func(r *tare.Result) { r.Contenders[1].Version = "v2.0.0" },
		"role":     func(r *tare.Result) { r.Contenders[1].Role = tare.RoleTrap },
		"go1.25.0": func(r *tare.Result) { r.Contenders[1].Go = "go1.25.0" },
		"already":  func(r *tare.Result) { r.Machines = make([]tare.OnMachine, 2) },
	} {
		if _, err := OverMachines(machinesOf(onMachine(1, 1, nil), onMachine(2, 1, change)), false); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	older := func(r *tare.Result) { r.Contenders[1].Go = "go1.25.0" }
	if _, err := OverMachines(machinesOf(onMachine(1, 1, nil), onMachine(2, 1, older)), true); err != nil {
		t.Errorf("mixed versions of Go, asked for: %v", err)
	}
	if _, err := OverMachines(machinesOf(onMachine(1, 1, nil)), false); err == nil {
		t.Error("one machine was taken")
	}
	twice := machinesOf(onMachine(1, 1, nil), onMachine(2, 1, nil))
	twice[1].Name = "A"
	if _, err := OverMachines(twice, false); err == nil || !strings.Contains(err.Error(), "named A") {
		t.Errorf("one name for two: %v", err)
	}
}
