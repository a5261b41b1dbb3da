package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This check finds contenders whose time hardly grows with the size of the input. For example, 100
// kB take as long as 1 kB: the operation does not reach all of its input.

// maxFlatExponent is the exponent below which time does not grow with size. A hundred times the
// bytes then take less than 2.5 times as long.
const maxFlatExponent = 0.2

func sizeScaling() Check {
	return Check{
		ID:       "size-scaling",
		Severity: tare.Warn,
		Summary: "Time must grow with the number of bytes. If a fixture and op come in three sizes or more, time ~ bytes^e is fitted in each round (least squares on the logarithms); " +
			"the check warns if the 99.9 % interval of e over rounds is entirely below 0.2, so that a hundred times the bytes take less than 2.5 times as long. " +
			"A fixed cost per call makes e smaller than 1 although nothing is wrong, which is why the bound is so low; the fitted exponents are in the result as scaling.",
		Why: "A library that copies structs was published as taking about the same time for all sizes, while JSON took longer the more fields there were. " +
			"What took the same time was the error path: nothing was copied. Work on every byte cannot cost the same for all lengths.",
		Advice:             "find out whether the operation reaches all of its input: a lazy decoder, a cached answer and an error all look like this",
		adviceIsForAuthors: true,
		onlyAtEnd:          true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, s := range in.Scaling {
				isByBytes := s.By == "" || s.By == tare.ByBytes
				isNull := in.roleOf(s.Contender) == tare.RoleNull // it does no work, whatever the size
				if isNull || len(s.Workloads) == 0 || !isByBytes {
					continue
				}
				lo, hi, ok := stats.Interval(s.PerRound, strictLevel)
				if !ok || hi >= maxFlatExponent {
					continue
				}
				out = append(out, tare.Finding{
					Contender: s.Contender, Workload: s.Workloads[len(s.Workloads)-1],
					Message: fmt.Sprintf("time hardly grows with size over %s: as bytes^%.2f (%.2f to %.2f, %s), so a hundred times the bytes take %.2g× as long",
						strings.Join(s.Workloads, ", "), s.Exponent, lo, hi, format.Count(len(s.PerRound), "round"), math.Pow(100, s.Exponent)),
				})
			}
			return out
		},
	}
}
