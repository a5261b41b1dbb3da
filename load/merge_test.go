package load_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// A merged histogram equals the histogram of all values: its percentiles are exact to a bucket, not
// means of percentiles.
func TestMergedPercentiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := new(hist.Hist)
	var parts []*load.Result
	for i := range 3 {
		h := new(hist.Hist)
		for range 10000 {
			v := int64(r.ExpFloat64() * float64(time.Millisecond) * float64(i+1))
			h.Record(v)
			whole.Record(v)
		}
		one := &load.Result{Latency: h, Requests: 10000, Sent: 10000, Statuses: map[int]int64{200: 10000}, Wall: time.Second,
			Timeline: []load.Second{{At: 0, Requests: 10000, P99: time.Duration(h.Quantile(0.99)), Bins: h.Bins(4)}}}
		one.Service, one.FirstByte, one.Connect, one.Handshake, one.SendLag = new(hist.Hist), new(hist.Hist), new(hist.Hist), new(hist.Hist), new(hist.Hist)
		text, err := json.Marshal(one) // as it goes from machine to machine
		if err != nil {
			t.Fatal(err)
		}
		var back load.Result
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one.Latency, back.Latency) {
			t.Error("a histogram came back as another")
		}
		parts = append(parts, &back)
	}
	m := load.Merge(parts)
	for _, q := range []float64{0.5, 0.99, 0.999} {
		if got, want := m.Latency.Quantile(q), whole.Quantile(q); got != want {
			t.Errorf("p%g is %d, of all values together %d", q*100, got, want)
		}
	}
	if m.Requests != 30000 || m.Statuses[200] != 30000 || m.Wall != time.Second || len(m.Timeline) != 1 || m.Timeline[0].Requests != 30000 {
		t.Errorf("%+v", m)
	}
	if got, want := float64(m.Timeline[0].P99), float64(whole.Quantile(0.99)); got < want*0.8 || got > want*1.25 {
		t.Errorf("the second's p99 is %g, of all values %g", got, want)
	}
	if load.Merge(nil) != nil {
		t.Error("nothing merged is something")
	}
}

// If one of several load generators was the limit, or was lost, nothing follows about the server.
func TestGenerators(t *testing.T) {
	one := func(cpu time.Duration) *load.Result {
		h := new(hist.Hist)
		for range 1000 {
			h.Record(int64(time.Millisecond))
		}
		return &load.Result{Latency: h, Service: h, FirstByte: h, Connect: new(hist.Hist), Handshake: new(hist.Hist), SendLag: new(hist.Hist),
			Requests: 1000, Sent: 1000, Statuses: map[int]int64{200: 1000}, Wall: time.Second, Connections: 1, Threads: 1, CPU: cpu, Concurrency: 1}
	}
	document := func(cpu time.Duration, lost string) load.Document {
		a, b := one(100*time.Millisecond), one(cpu)
		return load.NewDocument(load.Merge([]*load.Result{a, b}), load.Documented{Facts: load.Facts{ClientCores: 2}, Generators: []load.Generator{
			{Name: "a", Result: a, Facts: load.Facts{ClientCores: 1}}, {Name: "b", Result: b, Facts: load.Facts{ClientCores: 1}, Lost: lost},
		}})
	}
	if d := document(100*time.Millisecond, ""); !d.Capacity || len(d.Generators) != 2 || d.Generators[1].Requests != 1000 {
		t.Errorf("%+v", d)
	}
	if d := document(time.Second, ""); d.Capacity || d.Limit != string(load.LimitClient) || d.Generators[1].Capacity || !d.Generators[0].Capacity {
		t.Errorf("a load generator was busy: %+v", d)
	}
	if d := document(100*time.Millisecond, "no word from it"); d.Capacity || len(d.Findings) == 0 {
		t.Errorf("a load generator was lost: %+v", d)
	}
}

// Merge adds every count of a result.
func TestMergeAddsEveryCount(t *testing.T) {
	count := reflect.TypeFor[int64]()
	one := func(n int64) *load.Result {
		r := new(load.Result)
		for i := range reflect.TypeOf(*r).NumField() {
			if f := reflect.ValueOf(r).Elem().Field(i); f.Type() == count {
				f.SetInt(n)
			}
		}
		return r
	}
	merged := reflect.ValueOf(load.Merge([]*load.Result{one(3), one(5)})).Elem()
	fields := 0
	for i := range merged.NumField() {
		if merged.Field(i).Type() != count {
			continue
		}
		if fields++; merged.Field(i).Int() != 8 {
			t.Errorf("%s of 3 and 5 is %d", merged.Type().Field(i).Name, merged.Field(i).Int())
		}
	}
	if fields < 10 {
		t.Errorf("only %d counts", fields)
	}
}

// blocksOf returns twelve blocks of a machine, with the counts of misses of one objective. Machine m has m+1 times as
// many responses as machine 0.
func blocksOf(m int, beyond func(block int) int64) []load.Block {
	blocks := make([]load.Block, 12)
	for i := range blocks {
		n := int64(100 * (m + 1))
		blocks[i] = load.Block{Sent: n, Answers: n, Sum: float64(n) * 1e6, Beyond: []int64{beyond(i)}}
	}
	return blocks
}

// resultOf returns a result of a machine with these blocks, without latencies.
func resultOf(blocks []load.Block) *load.Result {
	r := &load.Result{Connections: 1, Wall: time.Second, Blocks: blocks}
	for _, h := range []**hist.Hist{&r.Latency, &r.Service, &r.FirstByte, &r.Connect, &r.Handshake, &r.SendLag} {
		*h = new(hist.Hist)
	}
	for _, b := range blocks {
		r.Sent += b.Sent
		r.Requests += b.Answers
		for range b.Answers {
			r.Latency.Record(int64(time.Millisecond))
		}
	}
	return r
}

// A load over several machines has the intervals of one machine that sent all of its requests. A slow moment of the
// server is in the same part of every machine's, so it does not count as several.
func TestMergedIntervals(t *testing.T) {
	slo, err := load.ParseSLO("p99<10ms")
	if err != nil {
		t.Fatal(err)
	}
	var machines []*load.Result
	whole := make([]load.Block, 12)
	for m := range 3 {
		blocks := blocksOf(m, func(block int) int64 { return int64(10 * (m + 1) * (block / 11)) }) // all in the last part
		for i, b := range blocks {
			w := &whole[i]
			w.Sent, w.Answers, w.Sum = w.Sent+b.Sent, w.Answers+b.Answers, w.Sum+b.Sum
			w.Beyond = []int64{append(w.Beyond, 0)[0] + b.Beyond[0]}
		}
		machines = append(machines, resultOf(blocks))
	}
	got, want := slo.Hold(load.Merge(machines))[0], slo.Hold(resultOf(whole))[0]
	if !got.Seen || got != want || got.High-got.Low < 0.01 {
		t.Errorf("%+v, from one machine %+v", got, want)
	}
	for name, blocks := range map[string][]load.Block{"none": nil, "too few": whole[:5], "of no objective": make([]load.Block, 12)} {
		if m := load.Merge([]*load.Result{machines[0], resultOf(blocks)}); m.Blocks != nil || slo.Hold(m)[0].Seen {
			t.Errorf("%s: an interval of a part of the requests: %+v", name, slo.Hold(m)[0])
		}
	}
}

// Steps of several machines are those of one machine: added by number, even if a machine that ended early has fewer.
func TestMergedSteps(t *testing.T) {
	slo, err := load.ParseSLO("p99<10ms")
	if err != nil {
		t.Fatal(err)
	}
	var machines []*load.Result
	for m := range 2 {
		r := resultOf(blocksOf(m, func(int) int64 { return 0 }))
		for number := range 3 - m { // the second machine lacks the last step
			one := resultOf(blocksOf(m, func(int) int64 { return 0 }))
			one.Errors = map[load.Class]int64{load.ErrStatus: int64(number)}
			r.Steps = append(r.Steps, load.StepResult{Number: number, Rate: float64(100 * (number + 1)), At: time.Duration(number) * time.Second, Result: one})
		}
		if err := load.CheckResult(r); err != nil {
			t.Fatal(err)
		}
		machines = append(machines, r)
	}
	merged := load.Merge(machines)
	d := load.NewDocument(merged, load.Documented{SLO: slo})
	if len(d.Steps) != 3 || d.SLO[0].Interval == nil {
		t.Fatalf("%+v", d.Steps)
	}
	for i, want := range []struct {
		rate     float64
		requests int64
		errors   int64
	}{{200, 3600, 0}, {400, 3600, 2}, {300, 1200, 2}} {
		s, one := d.Steps[i], merged.Steps[i].Result
		if s.RateAsked != want.rate || one.Requests != want.requests || one.Errors[load.ErrStatus] != want.errors || s.At != float64(i) || s.Objectives[0].Interval == nil || one.Wall != time.Second {
			t.Errorf("step %d: %+v of %+v", i, s, one)
		}
	}
}

// Blocks and steps that no load generator has are errors.
func TestImpossibleSteps(t *testing.T) {
	good := func() *load.Result {
		r := resultOf(blocksOf(0, func(int) int64 { return 1 }))
		for number := range 2 {
			r.Steps = append(r.Steps, load.StepResult{Number: number, Rate: 100, Result: resultOf(blocksOf(0, func(int) int64 { return 1 }))})
		}
		return r
	}
	for want, change := range map[string]func(r *load.Result){
		"":                        func(*load.Result) {},
		"11 parts":                func(r *load.Result) { r.Blocks = r.Blocks[:11] },
		"a part is impossible":    func(r *load.Result) { r.Blocks[3].Sent = -1 },
		"a part is impossible ":   func(r *load.Result) { r.Blocks[3].Beyond = append(r.Blocks[3].Beyond, 1) },
		"a part is impossible  ":  func(r *load.Result) { r.Blocks[0].Sum = -1 },
		"a part is impossible   ": func(r *load.Result) { r.Steps[1].Result.Blocks[2].Beyond[0] = -1 },
		"101 steps":               func(r *load.Result) { r.Steps = make([]load.StepResult, 101) },
		"a step is impossible":    func(r *load.Result) { r.Steps[1].Number = 0 },
		"a step is impossible ":   func(r *load.Result) { r.Steps[1].Number = 1000 },
		"a step is impossible  ":  func(r *load.Result) { r.Steps[0].Rate = -1 },
		"a step has another":      func(r *load.Result) { r.Steps[0].Result = nil },
		"a step has another ":     func(r *load.Result) { r.Steps[0].Result.Latency = nil },
		"a step has another  ":    func(r *load.Result) { r.Steps[0].Result.Steps = r.Steps[1:] },
		"a count of a step":       func(r *load.Result) { r.Steps[0].Result.Sent = 3 },
		"a count of a step ":      func(r *load.Result) { r.Steps[0].Result.Errors = map[load.Class]int64{load.ErrReset: -1} },
	} {
		r := good()
		change(r)
		err := load.CheckResult(r)
		if want = strings.TrimSpace(want); want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
