package receipt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/assert"
)

// sample returns a receipt in which every field is set.
func sample() Receipt {
	return Receipt{
		Schema: Schema, Tare: "v0.1.0", Made: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC), Study: "bench example.com/m", Seed: "7", Stopped: "planned",
		Command: []string{"bench", "--base", "a\xffb <&>"}, Dir: "/w", Files: map[string]string{"default.pgo": "00"},
		Sides: []Side{
			{ID: benchstudy.Base, Version: "main (1a2b3c4d5)", Commit: "1a2b", Tree: "3c4d", Go: "go1.26.0"},
			{ID: benchstudy.Head, Version: "worktree at 1a2b3c4d5 with changes", Tree: "5e6f", Go: "go1.26.0"},
		},
		Machine: Machine{"linux", "amd64", "Scripted 3000"},
		Rows:    []Row{{"example.com/m.BenchmarkA", "time", Less, 0.5, 0.4, 0.6, 0.95, 12, 0.01}},
		Counts:  []tare.Work{{Workload: "example.com/m.BenchmarkA", Contender: benchstudy.Head, Metric: "instructions", Ops: 3, PerOp: []float64{100, 100.5}}},
	}
}

// write writes a receipt that a data directory seals, and returns its text.
func write(t *testing.T, c Receipt, d cmdenv.Dirs) string {
	t.Helper()
	var text bytes.Buffer
	assert.NoError(t, "write", c.Write(&text, d))
	return text.String()
}

// read reads a text as a receipt of a data directory.
func read(t *testing.T, text string, d cmdenv.Dirs) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipt.json")
	assert.NoError(t, "write a file", os.WriteFile(path, []byte(text), 0o600))
	_, err := Read(path, d)
	return err
}

// TestForgedReceipts changes every value of a receipt, and seals it by other means. None is
// accepted.
func TestForgedReceipts(t *testing.T) {
	d, other := cmdenv.Dirs{Data: t.TempDir()}, cmdenv.Dirs{Data: t.TempDir()}
	sound := write(t, sample(), d)
	assert.NoError(t, "read", read(t, sound, d))
	forged := map[string]string{
		"sealed by another directory": write(t, sample(), other),
		"no seal":                     strings.Replace(sound, `"seal": "`, `"seal": "", "x": "`, 1),
		"one more field":              strings.Replace(sound, `{`, `{"note": "verified",`, 1),
		"a field twice":               strings.Replace(sound, `"rows"`, `"rows": [], "rows"`, 1) + " ",
		"another value first":         strings.Replace(sound, `"ratio": 0.5`, `"ratio": 0.2, "ratio": 0.5`, 1),
		"another value in capitals":   strings.Replace(sound, `"ratio": 0.5`, `"ratio": 0.2, "Ratio": 0.5`, 1),
		"other white space":           strings.Replace(sound, `"ratio": 0.5`, `"ratio":0.5`, 1),
		"a second document":           sound + sound,
		"cut off":                     sound[:len(sound)/2],
		"empty":                       "",
		"another document":            `{"schema":"tare.result/1"}`,
	}
	better := sample()
	better.Rows[0].Ratio, better.Rows[0].Low, better.Rows[0].High = 0.2, 0.1, 0.3
	forged["changed and sealed by another directory"] = write(t, better, other)
	forged["rows of another receipt"] = strings.Replace(sound, `"ratio": 0.5`, `"ratio": 0.2`, 1)
	var doc map[string]any
	assert.NoError(t, "unmarshal", json.Unmarshal([]byte(sound), &doc))
	changeEach(doc, "", func(path string) {
		text, err := json.Marshal(doc)
		assert.NoError(t, "marshal", err)
		forged["changed "+path] = string(text)
	})
	if len(forged) < 40 {
		t.Errorf("%d forged receipts, want 40 or more", len(forged))
	}
	delete(forged, "a field twice") // the last one counts, as everywhere in Go: it is the sealed one
	for name, text := range forged {
		if err := read(t, text, d); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(other.Data, "key")); err != nil {
		t.Error("the other directory has no key:", err)
	}
	if err := read(t, sound, cmdenv.Dirs{Data: filepath.Join(t.TempDir(), "none")}); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
		t.Errorf("a data directory without a key: %v", err)
	}
}

// changeEach changes one value of a document after another, calls do, and restores it.
func changeEach(v any, path string, do func(path string)) {
	each := func(key string, item any, set func(any)) {
		at := path + "/" + key
		switch item := item.(type) {
		case string:
			set(item + "x")
		case float64:
			set(item * 0.9)
		default:
			changeEach(item, at, do)
			return
		}
		do(at)
		set(item)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			each(key, item, func(x any) { v[key] = x })
		}
	case []any:
		for i, item := range v {
			each(fmt.Sprint(i), item, func(x any) { v[i] = x })
		}
	}
}

// TestCheck compares rows of a receipt with new ones.
func TestCheck(t *testing.T) {
	row := func(ratio, low, high float64) tare.Comparison {
		return tare.Comparison{Workload: "w", Contender: benchstudy.Head, Against: benchstudy.Base, Metric: benchstudy.Metrics()[0], Ratio: ratio, Low: low, High: high}
	}
	result := func(c tare.Comparison) *tare.Result {
		r := &tare.Result{}
		r.Comparisons = []tare.Comparison{c}
		return r
	}
	faster, slower, same := row(0.5, 0.4, 0.6), row(1.5, 1.4, 1.6), row(1, 0.9, 1.1)
	for name, c := range map[string]struct {
		then, now tare.Comparison
		want      Outcome
	}{
		"faster again":                {faster, row(0.55, 0.45, 0.65), Holds},
		"faster by another amount":    {faster, row(0.8, 0.75, 0.85), Holds},
		"slower instead":              {faster, slower, DoesNot},
		"no difference, apart":        {faster, same, DoesNot},
		"no difference, overlapping":  {faster, row(0.8, 0.55, 1.05), Open},
		"no difference again":         {same, row(1.02, 0.95, 1.1), Holds},
		"a difference that overlaps":  {same, row(1.06, 1.01, 1.12), Holds},
		"a difference where none was": {same, slower, DoesNot},
		"no interval then":            {row(0.5, 0, 0), faster, Open},
		"no interval":                 {faster, row(0.5, 0, 0), Open},
	} {
		receipt := New(result(c.then), nil)
		rows, got := receipt.Check(result(c.now))
		if got != c.want || len(rows) != 1 || rows[0].Outcome != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	both := New(result(faster), nil)
	if rows, got := both.Check(&tare.Result{}); got != Open || rows[0].Now != nil {
		t.Errorf("not measured again: %s", got)
	}
	both.Rows = append(both.Rows, both.Rows[0])
	both.Rows[1].Benchmark = "gone"
	if _, got := both.Check(result(slower)); got != DoesNot {
		t.Errorf("the worst of two rows: %s", got)
	}
}

func TestLargeReceipt(t *testing.T) {
	d := cmdenv.Dirs{Data: t.TempDir()}
	err := read(t, write(t, sample(), d)+strings.Repeat(" ", MaxBytes), d)
	if cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Error(err)
	}
}

// A benchmark has a row in time, or in instructions if it was not timed.
func TestRows(t *testing.T) {
	compare := func(workload, metric string, ratio, low, high float64) tare.Comparison {
		return tare.Comparison{Workload: workload, Contender: benchstudy.Head, Against: benchstudy.Base, Metric: metric, Ratio: ratio, Low: low, High: high, Level: 0.95, Rounds: 12}
	}
	control := compare("a", "time", 1.01, 0.98, 1.02)
	control.Contender = "control"
	var r tare.Result
	r.Comparisons = []tare.Comparison{
		compare("a", "time", 0.5, 0.4, 0.6), control, compare("a", "bytes", 2, 2, 2), compare("a", "instructions", 0.9, 0.9, 0.9),
		compare("b", "instructions", 1.02, 1.02, 1.02), compare("c", "instructions", 1, 1, 1),
	}
	var got []string
	for _, row := range Rows(&r) {
		got = append(got, fmt.Sprint(row.Benchmark, " ", row.Metric, " ", row.Claim))
	}
	assert.Equal(t, "rows", strings.Join(got, "; "), "a time less; b instructions more; c instructions undecided")
}
