package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// minColdBytes is the length from which a single body does not fit into the nearest caches.
const minColdBytes = 8 << 20

// sink finds contenders whose output is the same whatever the input, and workloads with a single
// input. A sink consumes results, so that the compiler cannot omit them.
func sink() Check {
	return Check{
		ID:       "sink",
		Severity: tare.Warn,
		Summary: "Results must be consumed, and operations must work on different inputs. The check warns of a contender whose answers differ in length from body to body while every timed slice wrote exactly the same bytes per operation, " +
			"and not their mean: the timed operations were not those that gave the answers. It does not apply if all answers are equally long, as those to the bundled fixtures are, nor to operations that write nothing, such as decoding, nor if a protocol is chosen for a contender (set: {protocol: …}), whose answers are compared in another form than they are sent. " +
			"It also warns of a workload with a pool of one body below 8 MiB; if the body is a user's own file, that is only noted.",
		Why: "A compiler omits work whose result is never read, and a processor learns a single input: it predicts the branches, and the input stays in cache. " +
			"Published values came from one body that was encoded over and over.",
		Advice:             "omit pool, so that 64 different bodies are rotated, and read the result of every operation",
		adviceIsForAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				if w.Pool != 1 || w.Bytes >= minColdBytes {
					continue
				}
				f := tare.Finding{Workload: w.ID, Message: "every operation works on the same body: pool is 1"}
				if w.File != "" {
					f.Severity, f.Message = tare.Note, "every operation works on the same body: "+w.File
					f.Advice = "read the values as those of one input that stays in cache"
				}
				out = append(out, f)
			}
			if !in.Final {
				return out
			}
			for _, c := range in.Conformance {
				if f, ok := findConstantOutput(in, c); ok {
					out = append(out, f)
				}
			}
			return out
		},
	}
}

// findConstantOutput returns a finding if all timed slices wrote equally many bytes per operation,
// although the answers in c have different lengths. A slice is one timed run.
//
// Slices that go through all bodies write the mean length, which is correct. Fewer bytes than the
// shortest answer has are not judged. Binary answers may have been compared as longer JSON.
func findConstantOutput(in Input, c tare.Conformance) (finding tare.Finding, ok bool) {
	if c.During || c.Probe { // samples during a round, and untimed probes
		return tare.Finding{}, false
	}
	haveDifferentLengths := c.Cases >= 2 && c.Bytes != c.MinBytes*int64(c.Cases)
	isNull := in.roleOf(c.Contender) == tare.RoleNull // it does no work
	if c.Wrong > 0 || !haveDifferentLengths || isNull {
		return tare.Finding{}, false
	}
	if contender, _ := in.Contender(c.Contender); contender.Set["protocol"] != "" { // BytesOut counts messages, not answers
		return tare.Finding{}, false
	}
	var timed []tare.Slice
	for _, s := range in.Slices {
		if s.Contender == c.Contender && s.Workload == c.Workload && s.Ops > 0 {
			timed = append(timed, s)
		}
	}
	if len(timed) < 2 {
		return tare.Finding{}, false
	}
	bytes, ops := timed[0].BytesOut, timed[0].Ops
	// Integers are exact, unlike bytes per operation.
	isVaried := slices.ContainsFunc(timed, func(s tare.Slice) bool { return s.BytesOut*ops != bytes*s.Ops })
	isBelowShortest := bytes < c.MinBytes*ops
	isMeanLength := bytes*int64(c.Cases) == c.Bytes*ops
	if isVaried || isBelowShortest || isMeanLength {
		return tare.Finding{}, false
	}
	return tare.Finding{
		Contender: c.Contender, Workload: c.Workload,
		Message: fmt.Sprintf("each of %s wrote %s B/op, but the answers have different lengths, %s B in the mean",
			format.Count(len(timed), "slice"), formatNumber(float64(bytes)/float64(ops)), formatNumber(float64(c.Bytes)/float64(c.Cases))),
		Advice: "make sure that the timed loop goes through all bodies and writes the output of each",
	}, true
}
