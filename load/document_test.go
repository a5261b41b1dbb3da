package load

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

func TestDocument(t *testing.T) {
	r := closed()
	r.Errors = map[Class]int64{ErrTimeout: 3, ErrReset: 2, ErrConnect: 0}
	r.Statuses = map[int]int64{200: 99_000, 404: 1000}
	r.FirstError, r.Reconnects = "reset", 2
	r.Timeline = []Second{{At: 0, Requests: 9_900, Errors: 1, P50: time.Millisecond, P99: 2 * time.Millisecond}, {At: time.Second, Requests: 10_100}}
	d := NewDocument(r, Documented{
		URL: "http://127.0.0.1:1/", Facts: Facts{ServerCPU: 9 * time.Second, ServerCores: 1, RoundTrip: 50 * time.Microsecond, Bandwidth: 1e9},
		Delay: 20 * time.Microsecond, ServerCPU: []time.Duration{time.Second}, SLO: slo(t, "p99<20ms,p99.999<1s,mean<1us,errors<1%"),
	})
	for what, c := range map[string][2]any{
		"schema":                {d.Schema, "tare.load/1"},
		"requests":              {d.Requests, int64(100_000)},
		"requests per second":   {d.RequestsPerSecond, 10_000.0},
		"seconds":               {d.Seconds, 10.0},
		"timeouts":              {d.Timeouts, int64(3)},
		"errors":                {len(d.Errors), 2},
		"statuses":              {d.Statuses["404"], int64(1000)},
		"rate asked":            {d.RateAsked, 0.0},
		"latencies":             {d.Latency.Count, int64(100_000)},
		"p99.9":                 {d.Latency.P999, r.Latency.Quantile(0.999)},
		"p66":                   {d.Latency.P66, r.Latency.Quantile(0.66)},
		"client CPU":            {d.ClientCPUSeconds, 2.0},
		"server CPU":            {d.ServerCPUSeconds, 9.0},
		"in":                    {d.Path.In, 16e6},
		"out":                   {d.Path.Out, 6.4e6},
		"round trip":            {d.Path.RoundTrip, int64(50_000)},
		"limit":                 {d.Limit, "server"},
		"capacity":              {d.Capacity, true},
		"seconds of the server": {d.Timeline[0].ServerCPU + d.Timeline[1].ServerCPU, 1.0},
		"a second":              {d.Timeline[1].At, 1.0},
		"p99 is met":            {d.SLO[0].Verdict, tare.Met},
		"p99.999 is thin":       {d.SLO[1].Verdict, tare.Inconclusive},
		"mean is not met":       {d.SLO[2].Verdict, tare.NotMet},
		"errors are met":        {d.SLO[3].Verdict, tare.Met},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
}

// Each field of Latencies is computed: one that is added and not set would be absent from documents.
func TestEveryLatencyIsSet(t *testing.T) {
	var h hist.Hist
	for i := range int64(1000) {
		h.Record(1000 + i)
	}
	v := reflect.ValueOf(newLatencies(&h))
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set", v.Type().Field(i).Name)
		}
	}
}

// If the load generator was the limit, objectives on latencies are void, met or not. The objective
// on errors keeps its verdict, because errors are only counted.
func TestObjectivesOfABusyClientAreVoid(t *testing.T) {
	r := closed()
	r.CPU = 10 * time.Second
	d := NewDocument(r, Documented{SLO: slo(t, "p99<1s,max<1us,errors<=0%")})
	if d.Capacity || d.SLO[0].Verdict != tare.VoidRuling || d.SLO[1].Verdict != tare.VoidRuling || d.SLO[2].Verdict != tare.Met {
		t.Errorf("%+v", d.SLO)
	}
}

// Lists and maps of the document are never null, even if they are empty. Missing histograms are
// empty.
func TestDocumentOfNothing(t *testing.T) {
	for name, r := range map[string]*Result{
		"nothing": {}, "empty histograms": {Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), Connect: new(hist.Hist), SendLag: new(hist.Hist)},
	} {
		src, err := json.Marshal(NewDocument(r, Documented{}))
		var doc map[string]any
		if err == nil {
			err = json.Unmarshal(src, &doc)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, key := range []string{"errors", "statuses", "findings", "timeline", "latency", "connect", "first_byte"} {
			if doc[key] == nil {
				t.Errorf("%s: %s is null", name, key)
			}
		}
	}
}
