package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// minColdBytes is the length from which a single body does not fit into the nearest caches.
const minColdBytes = 8 << 20

func sink() Check {
	return Check{
		ID:       "sink",
		Severity: tare.Warn,
		Summary: "Results must be consumed, and different inputs worked on. It warns of a contender whose answers differ in length from body to body while every timed slice wrote exactly the same bytes per operation, " +
			"and not their mean: it was timed on something else than what it answered. It does not apply where all answers are equally long, as those to the bundled fixtures are, nor to operations that write nothing, such as decoding, nor where a protocol is chosen for a contender (set: {protocol: …}), whose answers are compared in another form than they are sent. " +
			"And it warns of a workload with a pool of one body below 8 MiB; of a user's own file, which is one body, that is only noted.",
		Why: "A compiler omits what is never read, and a processor learns one input by heart: branches are predicted and all of it stays in cache. " +
			"Published figures came from one body, encoded over and over.",
		Advice:     "leave pool out, so that 64 different bodies are rotated, and read the result of every operation",
		forAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				if w.Pool != 1 || w.Bytes >= minColdBytes {
					continue
				}
				f := tare.Finding{Workload: w.ID, Message: "every operation works on the same body: pool is 1"}
				if w.File != "" {
					f.Severity, f.Message = tare.Note, "every operation works on the same body: "+w.File
					f.Advice = "read the figures as those of one input that stays in cache"
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

// findConstantOutput reports a contender that wrote the same number of bytes in every timed
// operation, although its answers have different lengths. Slices that go through all bodies write
// the mean length, which is correct. Answers of binary codecs may have been converted to JSON, so
// bytes below the shortest answer are not judged.
func findConstantOutput(in Input, c tare.Conformance) (finding tare.Finding, ok bool) {
	if c.During || c.Probe { // during a round only a sample is tested, and probes are not timed
		return tare.Finding{}, false
	}
	haveDifferentLengths := c.Cases >= 2 && c.Bytes != c.MinBytes*int64(c.Cases)
	if c.Wrong > 0 || !haveDifferentLengths || in.roleOf(c.Contender) == tare.RoleNull {
		return tare.Finding{}, false
	}
	if contender, _ := in.Contender(c.Contender); contender.Set["protocol"] != "" { // BytesOut counts messages, not answers
		return tare.Finding{}, false
	}
	var bytes, ops int64 // of the first slice
	count := 0
	for _, s := range in.Slices {
		if s.Contender != c.Contender || s.Workload != c.Workload || s.Ops <= 0 {
			continue
		}
		count++
		if count == 1 {
			bytes, ops = s.BytesOut, s.Ops
		} else if s.BytesOut*ops != bytes*s.Ops { // other bytes per operation
			return tare.Finding{}, false
		}
	}
	isBelowShortest := bytes < c.MinBytes*ops
	isMeanLength := bytes*int64(c.Cases) == c.Bytes*ops
	if count < 2 || isBelowShortest || isMeanLength {
		return tare.Finding{}, false
	}
	return tare.Finding{
		Contender: c.Contender, Workload: c.Workload,
		Message: fmt.Sprintf("each of %s wrote %s B/op, but the answers have different lengths, %s B in the mean",
			format.Count(count, "slice"), formatNumber(float64(bytes)/float64(ops)), formatNumber(float64(c.Bytes)/float64(c.Cases))),
		Advice: "see that the timed loop goes through all bodies and writes what it is asked to write",
	}, true
}
