package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/tarebench/tare"
)

// Cost is the cost of one function of the user's, including what it calls in other packages.
type Cost struct {
	Function string
	Through  string // the function that it called directly; "" for itself
	File     string // base name
	Line     int
	Value    float64 // nanoseconds of CPU time, or allocations
}

// Attribute reads a gzipped pprof document of CPU time or memory, and charges each sample to
// the innermost function in a package of the user's. Samples without one are charged to the
// part of the runtime. It omits samples outside of benchmarks.
func Attribute(doc []byte, of string, users func(path string) bool) ([]Cost, error) {
	raw, err := unzip(doc, MaxDocument)
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
		if c, ok := chargeTo(s, users); ok && s.Value[at] > 0 {
			sums[c] += float64(s.Value[at])
		}
	}
	var all []Cost
	for c, value := range sums {
		c.Value = value
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Cost) int {
		return compareValues(a.Value, b.Value, fmt.Sprint(a.Function, a.Through, a.Line), fmt.Sprint(b.Function, b.Through, b.Line))
	})
	return all, nil
}

// chargeTo returns the function that a sample is charged to.
func chargeTo(s *profile.Sample, users func(path string) bool) (Cost, bool) {
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
	names := sampleFrames(s)
	for _, name := range names { // testing's work, and the collections that it requests
		if strings.HasPrefix(name, "testing.") || name == "runtime.main" || name == "runtime/pprof.profileWriter" {
			return Cost{}, false
		}
	}
	return Cost{Function: partOf(stack{frames: names})}, true
}

// Plain returns a function's name without type arguments.
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
