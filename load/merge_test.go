package load_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
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
