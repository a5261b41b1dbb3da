package main

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// line makes up a study in which plus5 takes 5 % longer and nobody else does.
func line(seed uint64, sd float64) Line {
	rng := rand.New(rand.NewPCG(seed, 1))
	l := Line{Seed: seed, Seconds: 20, Pressure: 0.1, Effects: map[string][]float64{}}
	for id, truth := range map[string]float64{"control": 0, "twin": 0, "plus2": math.Log(1.02), "plus5": math.Log(1.05)} {
		for range rounds {
			l.Effects[id] = append(l.Effects[id], truth+sd*rng.NormFloat64())
		}
	}
	return l
}

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	for i := range uint64(20) {
		if err := appendLine(filepath.Join(dir, "spin.ndjson"), line(bases[0].first+i, 0.02)); err != nil {
			t.Fatal(err)
		}
	}
	method := filepath.Join(dir, "METHOD.md")
	if err := os.WriteFile(method, []byte("before\n<!-- calibration:begin -->\nold\n<!-- calibration:end -->\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-dir", dir, "-method", method}, &out, &out); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(method)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for _, want := range []string{
		"before\n", "\nafter\n", "**spin base**: 20 studies of 40 rounds, seeds 1001–1020",
		"| plus5 | +5 % | 20 of 20 | 20 of 20 | 83 % to 100 % |", "**alloc base**: not measured yet",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") {
		t.Error("the old table is still there")
	}
}

func TestRoundsFor(t *testing.T) {
	var few, many []Line
	for i := range uint64(60) {
		few = append(few, line(i, 0.02))
		many = append(many, line(i, 0.2))
	}
	if got := roundsFor(few, "plus5"); len(got) > 2 {
		t.Errorf("little noise takes %s rounds, want a few", got)
	}
	if got := roundsFor(many, "plus5"); !strings.HasPrefix(got, "about") && !strings.HasPrefix(got, "more than") {
		t.Errorf("much noise takes %s rounds, want more than one study has", got)
	}
	if _, published := called(line(1, 0.02), "plus5", 4); published {
		t.Error("a difference was published from four rounds, which have no interval")
	}
}
