package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/tarebench/tare"
)

// Cost is the cost of a line in a function of the user. It includes called functions of other
// packages. For other samples, Function is a part of the program such as garbage collection, and
// Line is 0.
type Cost struct {
	Function string
	Through  string // called function of another package; "" for the line itself
	File     string // base name
	Line     int
	Value    float64 // ns of CPU time, or number of allocations
}

// Attribute reads a gzipped pprof document of a benchmark. kind is that of [Read]. It charges each
// sample to the innermost function in a package of the user, for which isUsers returns true. It
// omits the samples of package testing. The largest costs come first.
func Attribute(doc []byte, kind string, isUsers func(path string) bool) ([]Cost, error) {
	parsed, err := parseDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("read a %s profile: %w", kind, err)
	}
	index := -1 // sample value to use
	for i, t := range parsed.SampleType {
		isTime := kind == tare.ProfileCPU && t.Unit == "nanoseconds"
		isAllocations := kind == tare.ProfileMem && t.Type == "alloc_objects"
		if isTime || isAllocations {
			index = i
		}
	}
	if index < 0 {
		return nil, fmt.Errorf("read a %s profile: it has no such values", kind)
	}
	sums := map[Cost]float64{} // by the other fields of a cost
	for _, s := range parsed.Sample {
		if c, ok := chargeTo(s, isUsers); ok && s.Value[index] > 0 {
			sums[c] += float64(s.Value[index])
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

// chargeTo returns the cost, without a value, to which a sample is charged. It returns false for a
// sample of package testing.
func chargeTo(s *profile.Sample, isUsers func(path string) bool) (c Cost, ok bool) {
	through := ""                  // passed function of another package
	for _, l := range s.Location { // innermost first
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			name := WithoutTypeArgs(line.Function.Name)
			if isUsers(PackageOf(name)) {
				return Cost{
					Function: name,
					Through:  through,
					File:     filepath.Base(line.Function.Filename),
					Line:     int(line.Line),
				}, true
			}
			through = name
		}
	}
	names := sampleFrames(s)
	for _, name := range names {
		// Package testing requests garbage collections, which have its functions on their stack.
		isTesting := strings.HasPrefix(name, "testing.") || name == "runtime.main"
		if isTesting || name == "runtime/pprof.profileWriter" {
			return Cost{}, false
		}
	}
	return Cost{Function: partOf(stack{frames: names})}, true
}

// WithoutTypeArgs returns the name of a function without type arguments: f for f[go.shape.int].
func WithoutTypeArgs(function string) string {
	for {
		i := strings.IndexByte(function, '[')
		if i < 0 {
			return function
		}
		depth, end := 0, i // brackets can be nested: f[map[string]int]
		for ; end < len(function); end++ {
			switch function[end] {
			case '[':
				depth++
			case ']':
				depth--
			}
			if depth == 0 {
				end++
				break
			}
		}
		function = function[:i] + function[end:]
	}
}
