package schema

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

const gateSchema = "gate.schema.json"

// gated is a report that has every field.
func gated() gate.Report {
	return gate.Report{
		Schema: gate.Schema, Base: "b", Head: "h", Outcome: gate.Worse, Blocked: true, Sentence: "s", Margin: 0.05, Alpha: 0.05, OnInconclusive: project.WarnOpen, Rounds: 1, Seconds: 1,
		Rows: []gate.Row{{
			Benchmark: "m.BenchmarkX", Metric: "time", Outcome: gate.Open, Sentence: "s", Ratio: 1, Low: 1, High: 1, Level: 1, Base: 1, Head: 1, Unit: "ns/op", Rounds: 1, Margin: 0.1,
			RoundsNeeded: 1, Exact: true, Advice: "a", Waived: &gate.Waived{Until: "2026-12-31", Reason: "r"}, File: "f", Line: 1,
		}},
		Remarks: []gate.Remark{{Severity: gate.SeverityError, Text: "t", Place: gate.Place{File: "f", Line: 1}}},
		Skipped: []gate.Skipped{{What: "w", Why: "y", Broken: true, OneSided: true}},
		Results: []*tare.Result{{Schema: tare.ResultSchema}},
		Shard:   "2/4", Commit: "c", Requirements: map[string]gate.Requirements{"s": {Name: "n", Metrics: []string{"time"}, Place: gate.Place{File: "f", Line: 1}}}, Notes: []string{"n"},
	}
}

func TestGateReportsAreValid(t *testing.T) {
	s := compile(t, gateSchema)
	for name, rep := range map[string]gate.Report{
		"every field":            gated(),
		"the least there can be": gate.Judge(project.Default("."), gate.Measured{}, nil, time.Time{}, ""),
	} {
		src, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, src)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every field that a report has is described, and no other.
func TestGateSchemaKnowsEveryField(t *testing.T) {
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(read(t, gateSchema), &schema); err != nil {
		t.Fatal(err)
	}
	checkFields(t, map[reflect.Type]map[string]any{
		reflect.TypeFor[gate.Report](): schema.Properties, reflect.TypeFor[gate.Row](): schema.Defs["row"].Properties,
		reflect.TypeFor[gate.Waived](): schema.Defs["waived"].Properties, reflect.TypeFor[gate.Remark](): schema.Defs["remark"].Properties,
		reflect.TypeFor[gate.Skipped](): schema.Defs["left"].Properties,
	})
}

// checkFields compares the keys of types with the properties that a schema describes.
func checkFields(t *testing.T, types map[reflect.Type]map[string]any) {
	t.Helper()
	for typ, properties := range types {
		var described, has []string
		for name := range properties {
			described = append(described, name)
		}
		for _, f := range reflect.VisibleFields(typ) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() && name != "" {
				has = append(has, name)
			}
		}
		slices.Sort(described)
		slices.Sort(has)
		if !slices.Equal(described, has) {
			t.Errorf("%v has %q, described are %q", typ, has, described)
		}
	}
}

// The tare.yaml in the documentation is one.
func TestDocumentedProjectIsValid(t *testing.T) {
	src, err := os.ReadFile(docs("gate.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(src), "```yaml\nbench:")
	block, _, _ := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/gate.md shows no tare.yaml")
	}
	block = "bench:" + block
	if err := compile(t, "project.schema.json").Validate(yamlAny(t, []byte(block))); err != nil {
		t.Error(err)
	}
	if _, err := project.Parse("docs/gate.md", []byte(block)); err != nil {
		t.Error(err)
	}
}
