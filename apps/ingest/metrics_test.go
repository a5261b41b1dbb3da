package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	s := newService(t, Config{})
	if _, err := s.Accept(context.Background(), Records(list(3), json.Marshal)); err != nil {
		t.Fatal(err)
	}
	s.RefusalOf(NotFound())
	s.RefusalOf(NotFound())
	s.RefusalOf(&Refusal{Status: 418, Code: "teapot"})
	s.RefusalOf(context.Canceled)
	text := string(s.Metrics())
	for _, want := range []string{
		"ingest_batches_total 1\n", "ingest_records_total 3\n", "ingest_sink_errors_total 0\n", "ingest_refusals_total{error=\"not_found\"} 2\n",
		"ingest_refusals_total{error=\"other\"} 1\n", "ingest_refusals_total{error=\"internal\"} 1\n", "ingest_refusals_total{error=\"malformed\"} 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, codes := range refused(t) {
		for _, code := range codes {
			if !strings.Contains(text, fmt.Sprintf("{error=%q}", code)) {
				t.Errorf("no %s in\n%s", code, text)
			}
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, typed := strings.CutPrefix(line, "# TYPE "); typed {
			name, _, _ = strings.Cut(name, " ")
			seen[name] = true
		} else if !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(strings.Fields(line)[0], "{")
			if !seen[name] {
				t.Errorf("%q has no type", line)
			}
		}
	}
}
