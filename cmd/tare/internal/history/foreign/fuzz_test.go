package foreign_test

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/foreign"
)

// whole is a result that stands on a line of its own.
var whole = regexp.MustCompile(`(?m)^(Benchmark[A-Z]\w*)[ \t]+[1-9]\d{0,8}[ \t]+[1-9]\d{0,8} ns/op\r?$`)

// FuzzRead reads files of other tools: results are documents of ours with finite figures, and
// no whole line of a log is lost.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"goos: linux\npkg: m\n" + line, "BenchmarkA-2 \tx\n 10 5 ns/op\nok  \tm\t1s\n", events,
		`window.BENCHMARK_DATA = {"entries":{"Go":[{"commit":{"id":"f"},"date":1,"benches":[{"name":"BenchmarkA","value":7,"unit":"ns/op\t8 B/op","extra":"4 procs"}]}]}}`,
		`[{"Version":"1","Date":1,"Suites":[{"Pkg":"m","Benchmarks":[{"Name":"BenchmarkA","NsPerOp":5,"Mem":{}}]}]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		read, ok, err := foreign.Read("log", src, made)
		if err != nil && (!ok || !strings.HasPrefix(err.Error(), "log:")) {
			t.Fatalf("%v: %v", ok, err)
		}
		for _, r := range read.Results {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := history.Parse("log", text); err != nil {
				t.Fatal(err)
			}
			for _, p := range history.PairsOf(r) {
				if math.IsNaN(p.Ratio) || math.IsInf(p.Ratio, 0) {
					t.Errorf("%+v", p)
				}
			}
		}
		if !ok || err != nil || bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) || bytes.HasPrefix(bytes.TrimSpace(src), []byte("window")) || bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
			return
		}
		for _, m := range whole.FindAllSubmatch(src, -1) {
			has := func(r *tare.Result) bool {
				return slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == string(m[1]) })
			}
			if !slices.ContainsFunc(read.Results, has) {
				t.Errorf("%s is lost, and not named: %q", m[1], read.Omitted)
			}
		}
	})
}
