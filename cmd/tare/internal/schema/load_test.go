package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

const loadSchema = "load.schema.json"

// loaded is a document that has every field.
func loaded() *load.Document {
	var d load.Document
	fill(reflect.ValueOf(&d).Elem(), "")
	d.Schema, d.Limit, d.Search.Steps[0].Limit = load.DocumentSchema, string(load.LimitServer), string(load.LimitNone)
	d.Generators[0].Limit = string(load.LimitClient)
	d.Steps[0].Limit = string(load.LimitServer)
	return &d
}

func TestLoadDocumentIsValid(t *testing.T) {
	s := compile(t, loadSchema)
	h := new(hist.Hist)
	h.Record(int64(time.Millisecond))
	leg := &load.Result{
		Engine: load.Portable, Connections: 1, Threads: 1, Wall: time.Second, Sent: 1, Requests: 1, Statuses: map[int]int64{503: 1}, Errors: map[load.Class]int64{load.ErrStatus: 1},
		Opened: 1, Latency: h, Service: h, FirstByte: h, Timeline: []load.Second{{At: 0, Requests: 1, P50: time.Millisecond, P99: time.Millisecond}},
	}
	slo, err := load.ParseSLO("p50<2ms,p99<1s,errors<1%")
	if err != nil {
		t.Fatal(err)
	}
	search := &load.Search{SLO: slo, Ruling: "met", Sentence: "found", Steps: []load.SearchStep{{
		Trial: load.Trial{Connections: 1}, Result: leg, Assessment: load.Assess(leg, load.Facts{}), Outcomes: slo.Hold(leg), Ruling: "inconclusive", Why: "few",
	}}}
	for name, d := range map[string]any{
		"every field": loaded(),
		"a leg": load.NewDocument(leg, load.Documented{
			URL: "http://127.0.0.1:1/", Facts: load.Facts{ServerCPU: time.Second, ServerCores: 2}, Profile: load.Constant{PerSecond: 1},
			ServerCPU: []time.Duration{time.Second}, SLO: slo, Search: search,
		}),
		"the least there can be": load.NewDocument(&load.Result{}, load.Documented{}),
	} {
		src, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, src)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every value is typed, every object can have more fields, and words are those
// of the code.
func TestLoadSchemaIsTheDocument(t *testing.T) {
	s := compile(t, loadSchema)
	src, err := json.Marshal(loaded())
	if err != nil {
		t.Fatal(err)
	}
	for path := range places(decode(t, src), "") {
		doc := decode(t, src)
		change(doc, path, func(v any) any {
			if o, ok := v.(map[string]any); ok && !strings.HasSuffix(path, "/errors") && !strings.HasSuffix(path, "statuses") {
				o["field_of_the_future"] = "anything"
			}
			return v
		})
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s with one more field: %v", path, err)
		}
		change(doc, path, func(any) any { return []any{map[string]any{}} })
		if s.Validate(doc) == nil {
			t.Errorf("%s can be of another type", path)
		}
	}
	root := decode(t, read(t, loadSchema)).(map[string]any)
	c := comparer{t: t, root: root, used: map[string]bool{}}
	c.compare("load", reflect.TypeFor[load.Document](), root)
	defs := root["$defs"].(map[string]any)
	for name := range defs {
		if !c.used["#/$defs/"+name] {
			t.Errorf("$defs/%s describes nothing", name)
		}
	}
	limits := fmt.Sprint([]any{string(load.LimitServer), string(load.LimitClient), string(load.LimitLatency), string(load.LimitNone)})
	for _, node := range []any{root, defs["step"]} {
		if got := fmt.Sprint(node.(map[string]any)["properties"].(map[string]any)["limit"].(map[string]any)["enum"]); got != limits {
			t.Errorf("a limit can be %s in the schema, %s in the document", got, limits)
		}
	}
	errors := root["properties"].(map[string]any)["errors"].(map[string]any)["description"].(string)
	for _, class := range load.Classes() {
		if !strings.Contains(errors, string(class)) {
			t.Errorf("errors of class %s are not described", class)
		}
	}
}

// The keys that the design names are there, with these names.
func TestLoadDocumentHasItsKeys(t *testing.T) {
	var doc map[string]any
	src, _ := json.Marshal(load.NewDocument(&load.Result{}, load.Documented{}))
	if err := json.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`schema url requests errors statuses seconds requests_per_second rate_asked latency connect first_byte timeouts
		connections connections_opened bytes_in bytes_out client_cpu_seconds send_lag_p99_ns limit findings timeline`) {
		if _, ok := doc[key]; !ok {
			t.Errorf("%s is missing", key)
		}
	}
	keys := slices.Sorted(maps.Keys(doc["latency"].(map[string]any)))
	want := strings.Fields("count max_ns mean_ns min_ns p50_ns p66_ns p75_ns p80_ns p90_ns p95_ns p98_ns p99_9_ns p99_ns sd_ns")
	if !slices.Equal(keys, want) {
		t.Errorf("latencies have %q, want %q", keys, want)
	}
}
