package main

import (
	"bytes"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/tarebench/tare/stats"
)

// parseTimes returns the s per operation of each benchmark in the output of go test.
func parseTimes(out []byte) (map[string][]float64, error) {
	times := map[string][]float64{}
	r := benchfmt.NewReader(bytes.NewReader(out), "blocks")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		if v, ok := res.Value("sec/op"); ok {
			name, _, _ := strings.Cut(string(res.Name.Full()), "-")
			times[name] = append(times[name], v)
		}
	}
	return times, r.Err()
}

// compareBlocks returns the p value of benchstat's U test, and the ratio of the medians, head /
// base.
func compareBlocks(base, head []float64) (p, ratio float64) {
	th := benchmath.DefaultThresholds
	c := benchmath.AssumeNothing.Compare(benchmath.NewSample(base, &th), benchmath.NewSample(head, &th))
	return c.P, stats.Median(head) / stats.Median(base)
}
