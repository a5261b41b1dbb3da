package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/tarebench/tare"
)

// Cost is what was seen of one function, with what it called of packages that
// are not the user's.
type Cost struct {
	Function string
	Through  string // what it called directly; empty: itself
	File     string // base name
	Line     int
	Value    float64 // nanoseconds of CPU time, or allocations
}

// Attribute reads a gzipped pprof document of CPU time or memory, and charges
// each sample to the innermost function of a package of the user's. What the
// runtime does for no function in particular is charged to what it was doing.
// Samples outside of benchmarks are left out.
func Attribute(doc []byte, of string, users func(path string) bool) ([]Cost, error) {
	raw, err := unzipped(doc, MaxDocument)
	if err != nil {
		return nil, fmt.Errorf("read a %s profile: %w", of, err)
	}
	parsed, err := profile.ParseUncompressed(raw)
	if err == nil {
		err = parsed.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("read a %s profile: %w", of, err)
	}
	at := -1
	for i, t := range parsed.SampleType {
		if of == tare.ProfileCPU && t.Unit == "nanoseconds" || of == tare.ProfileMem && t.Type == "alloc_objects" {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("read a %s profile: it has no such values", of)
	}
	sums := map[Cost]float64{}
	for _, s := range parsed.Sample {
		if c, ok := charge(s, users); ok && s.Value[at] > 0 {
			sums[c] += float64(s.Value[at])
		}
	}
	var all []Cost
	for c, value := range sums {
		c.Value = value
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Cost) int {
		return order(a.Value, b.Value, fmt.Sprint(a.Function, a.Through, a.Line), fmt.Sprint(b.Function, b.Through, b.Line))
	})
	return all, nil
}

// charge finds whose cost a sample is.
func charge(s *profile.Sample, users func(path string) bool) (Cost, bool) {
	through := ""
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			name := Plain(line.Function.Name)
			if users(packageOf(name)) {
				return Cost{Function: name, Through: through, File: filepath.Base(line.Function.Filename), Line: int(line.Line)}, true
			}
			through = name
		}
	}
	names := frames(s)
	for _, name := range names { // testing's own work, and collections that it asks for
		if strings.HasPrefix(name, "testing.") || name == "runtime.main" || name == "runtime/pprof.profileWriter" {
			return Cost{}, false
		}
	}
	return Cost{Function: partOf(stack{frames: names})}, true
}

// Plain is a function's name without type arguments.
func Plain(function string) string {
	for {
		i := strings.IndexByte(function, '[')
		if i < 0 {
			return function
		}
		depth, end := 0, len(function)
		for j := i; j < len(function); j++ {
			switch function[j] {
			case '[':
				depth++
			case ']':
				depth--
			}
			if depth == 0 {
				end = j + 1
				break
			}
		}
		function = function[:i] + function[end:]
	}
}
