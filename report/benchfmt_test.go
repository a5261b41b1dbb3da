package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// lines returns the benchmark lines of a result in the benchfmt format.
func lines(t *testing.T, r *tare.Result) []string {
	t.Helper()
	var out []string
	for _, line := range strings.Split(written(t, "benchfmt", r), "\n") {
		if strings.HasPrefix(line, "Benchmark") {
			out = append(out, line)
		}
	}
	return out
}

func TestBenchfmtIsEveryRound(t *testing.T) {
	got := lines(t, tried(base()))
	assert.Equal(t, "lines: four contenders, three rounds", len(got), 12)
	assert.Equal(t, "first", got[0], "BenchmarkJsonEncode/workload=devices-50:marshal/contender=encoding-json\t16000\t92545.2 ns/op\t93178.8 cpu-ns/op\t33128 B/op\t602 allocs/op")
	for i, want := range []string{"encoding-json", "jsoniter-fastest", "control", "null"} {
		assert.Contains(t, "order", got[3*i], "/contender="+want+"\t")
	}
}

// Traps and void contenders have no benchmark line, so that benchstat does not compare them.
func TestBenchfmtLeavesTheVoidOut(t *testing.T) {
	for name, r := range cases() {
		r = tried(r)
		out := written(t, "benchfmt", r)
		for _, line := range lines(t, r) {
			for _, c := range r.Contenders {
				for _, w := range r.Workloads {
					if strings.Contains(line, "workload="+escapeNameValue(w.ID)+"/contender="+escapeNameValue(c.ID)+"\t") && (c.Role == tare.RoleTrap || len(r.Voids(c.ID, w.ID)) > 0) {
						t.Errorf("%s: %s", name, line)
					}
				}
			}
		}
		for _, f := range r.Findings {
			if f.Severity == tare.Void && f.Contender != "" && !strings.Contains(out, strings.TrimSuffix("# left out: "+f.Metric+" of ", "# left out:  of ")+f.Contender+" on ") {
				t.Errorf("%s: nothing says why %s is missing", name, f.Contender)
			}
		}
	}
	assert.Equal(t, "everything void", len(lines(t, tried(controlVoid()))), 0)
	assert.Contains(t, "a failed trial", written(t, "benchfmt", tried(exploring())), "# left out: segmentio in round 3: deadline: no reply to slice within 5s\n")
	assert.Equal(t, "lines without the failed trial", len(lines(t, tried(exploring()))), 14)
}

func TestBenchmarkNames(t *testing.T) {
	for id, want := range map[string]string{"json-encode": "JsonEncode", "größe 1": "Größe1", "": "Study", "--": "Study", "éa": "Éa"} {
		assert.Equal(t, id, benchmarkName(id), want)
	}
	for id, want := range map[string]string{"devices-50/marshal": "devices-50:marshal", "a:b": "a%3Ab", "a b%\n": "a%20b%25%0A", "ü†": "ü†", "\u2028": "%E2%80%A8"} {
		assert.Equal(t, id, escapeNameValue(id), want)
	}
	for name, want := range map[string]string{"x/contender=go-2": "x/contender=go%2D2", "x-": "x-", "x-2a": "x-2a", "12": "12", "sonic-1.14": "sonic-1.14"} {
		assert.Equal(t, name, guardDigits(name), want)
	}
}

func TestBenchfmtGOMAXPROCS(t *testing.T) {
	r := tried(base())
	for i := range r.Trials {
		r.Trials[i].Evidence.GOMAXPROCS = 4
	}
	assert.Contains(t, "four", lines(t, r)[0], "/contender=encoding-json-4\t")
}

func TestBenchfmtHoldsTheStudysMetrics(t *testing.T) {
	r := tried(base())
	r.Metrics = append(r.Metrics, "size")
	assert.Contains(t, "size", lines(t, r)[0], "\t11598 size-B/op")
	delete(r.Trials[0].Samples[marshal], "cpu_ns_per_op")
	delete(r.Trials[0].Samples[marshal], "ops")
	assert.Equal(t, "what was not measured is absent", lines(t, r)[0], "BenchmarkJsonEncode/workload=devices-50:marshal/contender=encoding-json\t1\t92545.2 ns/op\t33128 B/op\t602 allocs/op\t11598 size-B/op")
	r.Machine.CPU = "" // takes away what a result before it said
	assert.Contains(t, "cpu", written(t, "benchfmt", r), "\ncpu:\n")
}
