package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/perf/benchfmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// bench FILE OUT reads FILE, which may be stdout, as benchstat does, and writes
// to OUT what it found: the configuration, then each different name with its
// units and how many lines it has.
func bench(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bench FILE OUT")
	}
	out, err := benched([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out), 0o644))
}

func benched(src []byte) (string, error) {
	var config, names []string
	count := map[string]int{}
	in := benchfmt.NewReader(bytes.NewReader(src), "it")
	for in.Scan() {
		switch record := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return "", record
		case *benchfmt.Result:
			config = nil
			for _, c := range record.Config {
				config = append(config, fmt.Sprintf("%s: %s", c.Key, c.Value))
			}
			base, parts := record.Name.Parts()
			line := string(base)
			for _, part := range parts {
				line += " " + string(part)
			}
			for _, v := range record.Values {
				if v.Value < 0 || record.Iters < 1 {
					return "", fmt.Errorf("%s: %d iterations, %v %s", line, record.Iters, v.Value, v.Unit)
				}
				line += " | " + v.Unit
			}
			if count[line]++; count[line] == 1 {
				names = append(names, line)
			}
		}
	}
	for i := range names {
		names[i] += fmt.Sprintf(" | ×%d", count[names[i]])
	}
	return strings.Join(append(config, names...), "\n") + "\n", in.Err()
}

// However odd ids are, a line stays a line, a value one value, and two
// contenders two.
func TestBenchfmtOfOddNames(t *testing.T) {
	ids := []string{"a/b", "a:b", "a b", "go-2", "go", "ü†", "%", "x=y", "Unit", "new\nline", "tab\tbed"}
	r := &tare.Result{
		Study: "1 odd/study", Design: tare.Design{Metrics: []string{"time", "size"}, Workloads: []tare.Workload{{ID: "devices-50/marshal"}, {ID: "devices-50:marshal"}}},
		Run: tare.Run{Machine: tare.Machine{OS: "linux", CPU: "two\nlines: of it"}},
		Judged: tare.Judged{Findings: []tare.Finding{{Check: "error-in-loop", Severity: tare.Void, Contender: "go", Workload: "devices-50/marshal",
			Message: "says\nBenchmarkX 1 2 ns/op\nUnit\n" + strings.Repeat("very long ", 20000)}}},
	}
	for i, id := range ids {
		r.Contenders = append(r.Contenders, tare.Contender{ID: id, Role: tare.RoleContender})
		sample := tare.Sample{"ops": float64(i + 1), "time_ns_per_op": 1.5e-7 + float64(i), "cpu_ns_per_op": 2e22, "bytes_per_op": 0, "allocs_per_op": 601.079, "size_bytes_per_op": 7}
		r.Trials = append(r.Trials, tare.Trial{Round: 1, Tau: 1, Contender: id, Samples: map[string]tare.Sample{"devices-50/marshal": sample, "devices-50:marshal": sample}})
	}
	var b bytes.Buffer
	if err := report.Benchfmt(&b, r); err != nil {
		t.Fatal(err)
	}
	in := benchfmt.NewReader(bytes.NewReader(b.Bytes()), "it")
	var names []string
	for in.Scan() {
		record, ok := in.Result().(*benchfmt.Result)
		if !ok {
			if e, bad := in.Result().(*benchfmt.SyntaxError); bad {
				t.Error(e)
			}
			continue
		}
		base, parts := record.Name.Parts()
		if string(base) != "1OddStudy" || len(parts) != 2 || !bytes.HasPrefix(parts[0], []byte("/workload=")) || !bytes.HasPrefix(parts[1], []byte("/contender=")) {
			t.Errorf("%q has parts %q", record.Name, parts)
		}
		names = append(names, record.Name.String())
		var units []string
		for _, v := range record.Values {
			units = append(units, v.Unit)
		}
		if want := []string{"sec/op", "cpu-sec/op", "B/op", "allocs/op", "size-B/op"}; !slices.Equal(units, want) {
			t.Errorf("units %q, want %q", units, want)
		}
		if x, ok := record.Value("cpu-sec/op"); !ok || x < 1.99e13 || x > 2.01e13 {
			t.Errorf("cpu-sec/op is %v", x)
		}
		if got := record.GetConfig("goos") + "|" + record.GetConfig("pkg") + "|" + record.GetConfig("cpu"); got != "linux|1 odd/study|two lines: of it" {
			t.Errorf("configuration %q", got)
		}
	}
	if err := in.Err(); err != nil {
		t.Error(err)
	}
	if slices.Sort(names); len(names) != 2*len(ids)-1 || len(slices.Compact(names)) != len(names) {
		t.Errorf("%d names of %d lines", len(slices.Compact(names)), len(names))
	}
	for unit, key := range map[string]string{"ns/op": "better", "cpu-ns/op": "better", "B/op": "better", "allocs/op": "better", "size-B/op": "better"} {
		if m := in.Units().Get(unit, key); m == nil || m.Value != "lower" {
			t.Errorf("%s of %s is %v", key, unit, m)
		}
	}
}
