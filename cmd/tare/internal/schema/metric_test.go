package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// A metric of the catalogue is in the schema of studies, and a latency in that of tare.yaml.
func TestSchemasKnowEveryMetric(t *testing.T) {
	var study struct {
		Defs struct{ Metric struct{ Enum []string } } `json:"$defs"`
	}
	if err := json.Unmarshal(read(t, "study.schema.json"), &study); err != nil {
		t.Fatal(err)
	}
	if got := study.Defs.Metric.Enum; !slices.Equal(got, strings.Split(tare.MetricNames(), ", ")) {
		t.Errorf("a metric of a study can be %q in the schema, %s in the catalogue", got, tare.MetricNames())
	}
	var names []string
	for _, m := range project.Latencies() {
		names = append(names, regexp.QuoteMeta(m))
	}
	want := "(" + strings.ReplaceAll(strings.Join(names, "|"), `\`, `\\`) + ")" // as JSON
	if !strings.Contains(string(read(t, "project.schema.json")), `"pattern": "^ *`+want+` *<`) {
		t.Errorf("slo in project.schema.json has no pattern for %s", want)
	}
}
