package project

import (
	"slices"
	"testing"
)

func TestPolicyChanges(t *testing.T) {
	parse := func(text string) Project {
		p, err := Parse("tare.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const server = "load: [{id: api, program: ./a, mix: [GET /=1], rate: 5000, slo: p99<50ms}]\n"
	base := parse("gate: {margin: 5%}\naccept: [{benchmark: BenchmarkOld, until: 2026-06-01, reason: r}]\n" + server)
	for text, want := range map[string][]string{
		"gate: {margin: 5%}\naccept: [{benchmark: BenchmarkOld, until: 2026-06-01, reason: r}]\n" + server: nil,
		"gate: {margin: 5%}\n" + server: nil, // a waiver less
		"gate: {margin: 30%, alpha: 1%, allocs: ignore, on_inconclusive: fail}\n" + server: {
			"gate.margin is 30 %, in the base 5 %", "gate.alpha is 1 %, in the base 5 %",
			"gate.allocs is ignore, in the base exact", "gate.on_inconclusive is fail, in the base warn",
		},
		"gate: {margins: {benchmark: BenchmarkX, metric: time, margin: 30%}}\nbench: {run: Nothing}\n" + server: {
			"bench.run is Nothing, in the base .", "gate.margins is BenchmarkX (time) 30 %, in the base none",
		},
		"accept: [{benchmark: BenchmarkOld, until: 2026-06-01, reason: r}, {benchmark: BenchmarkNew, metric: time, until: 2026-06-02, reason: s}]\n" + server: {
			"accept has a waiver that the base has not: BenchmarkNew (time) until 2026-06-02: s",
		},
		"load: [{id: api, program: ./a, mix: [GET /=1], rate: 5000, slo: p99<70ms}]": {"load api is held to p99<70ms, in the base held to p99<50ms"},
		"load: [{id: api, program: ./a, mix: [GET /=1], rate: 5000}]":                {"load api is without limits, in the base held to p99<50ms"},
		"gate: {margin: 5%}": {"load api is none, in the base held to p99<50ms"},
	} {
		if got := PolicyChanges(base, parse(text)); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}
