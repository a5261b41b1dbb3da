// Package profile reads pprof documents of measured programs. It finds the functions that take most
// time or memory, or make the difference between two programs. It draws flame graphs. It reads no
// clock and no files.
package profile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/internal/protowire"
)

// MaxDocument limits the size of an unzipped document in bytes.
const MaxDocument = 256 << 20

// Profile has the call stacks on which a program spent CPU time or allocated memory.
type Profile struct {
	Kind   string  // cpu or mem
	Unit   string  // nanoseconds or bytes
	Total  float64 // sum of all stacks, in Unit
	Sample float64 // value of one sample, in Unit; 0 if unknown
	stacks []stack
}

type stack struct {
	frames    []string // the outermost first; never empty
	value     float64  // in the unit of the profile
	fromValue float64  // part of value that belongs to the first of two programs
}

// Read reads a gzipped pprof document. kind is [tare.ProfileCPU] or [tare.ProfileMem].
func Read(doc []byte, kind string) (*Profile, error) {
	units := map[string]string{tare.ProfileCPU: "nanoseconds", tare.ProfileMem: "bytes"}
	unit, ok := units[kind]
	if !ok {
		return nil, fmt.Errorf("profile of %q: there is one of cpu and one of mem", kind)
	}
	parsed, err := parseDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("read a %s profile: %w", kind, err)
	}
	index := valueIn(parsed.SampleType, unit)
	if index < 0 {
		return nil, fmt.Errorf("read a %s profile: no value in %s", kind, unit)
	}
	p := &Profile{Kind: kind, Unit: unit}
	if parsed.PeriodType != nil && parsed.PeriodType.Unit == unit && parsed.Period > 0 {
		p.Sample = float64(parsed.Period)
	}
	frames := 0
	for _, s := range parsed.Sample {
		value := float64(s.Value[index])
		if value <= 0 {
			continue
		}
		st := stack{frames: sampleFrames(s), value: value}
		if frames += len(st.frames); frames > maxFrames {
			return nil, fmt.Errorf("read a %s profile: more than %d frames in all stacks", kind, maxFrames)
		}
		st.frames = trimHarness(st.frames)
		p.Total += value
		p.stacks = append(p.stacks, st)
	}
	return p, nil
}

// Bounds of a document. A sample can take as little as two bytes of it. In memory, a decoded part
// takes about a hundred bytes and a number ten.
const (
	maxParts   = 4 << 20  // samples, locations, lines, labels, functions, names
	maxNumbers = 32 << 20 // locations and values of samples, and numbers in locations
)

func parseDocument(doc []byte) (*profile.Profile, error) {
	raw, err := unzip(doc, MaxDocument)
	if err != nil {
		return nil, err
	}
	if err := checkBounds(raw, maxParts, maxNumbers); err != nil {
		return nil, err
	}
	parsed, err := profile.ParseUncompressed(raw)
	if err != nil {
		return nil, err
	}
	return parsed, parsed.CheckValid()
}

// checkBounds returns an error if a document has more parts or numbers than the limits. It counts
// them before the document is decoded. The constants are from
// github.com/google/pprof/proto/profile.proto.
func checkBounds(document []byte, partLimit, numberLimit int) error {
	const sample, location = 2, 4  // fields of a profile
	const locations, values = 1, 2 // fields of a sample
	parts, numbers := 0, 0
	check := func() error {
		switch {
		case parts > partLimit:
			return fmt.Errorf("more than %d samples, locations, functions and other parts", partLimit)
		case numbers > numberLimit:
			return fmt.Errorf("more than %d numbers in samples and locations", numberLimit)
		}
		return nil
	}
	return protowire.Walk(document, func(f protowire.Field) error {
		parts++
		hasNumbers := f.Number == sample || f.Number == location
		if err := check(); err != nil || !hasNumbers {
			return err
		}
		return protowire.Walk(f.Data, func(inner protowire.Field) error {
			switch {
			case !inner.Packed:
				numbers++
			case f.Number == sample && (inner.Number == locations || inner.Number == values):
				for _, b := range inner.Data {
					if isLast := b < 0x80; isLast { // the last byte of a varint
						numbers++
					}
				}
			default:
				parts++
			}
			return check()
		})
	})
}

func unzip(doc []byte, limit int) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(zip, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > limit:
		return nil, fmt.Errorf("more than %d bytes", limit)
	case len(raw) == 0:
		return nil, errors.New("it is empty")
	}
	return raw, nil
}

// valueIn returns the index of the sample value in unit, preferably that of all allocations, or -1
// if there is none.
func valueIn(types []*profile.ValueType, unit string) int {
	index := -1
	for i, t := range types {
		if t.Type == "alloc_space" && t.Unit == unit {
			return i
		}
		if t.Unit == unit {
			index = i
		}
	}
	return index
}

// Bounds of the stacks. A location can be used any number of times, so a document does not limit
// them.
const (
	maxDepth  = 1000     // frames of one stack; outer frames are dropped
	maxFrames = 16 << 20 // frames of all stacks
)

// sampleFrames returns the functions of a stack, the outermost first, at least one. An inlined
// function has a frame too.
func sampleFrames(s *profile.Sample) []string {
	var out []string
	for _, l := range s.Location {
		for _, line := range l.Line {
			if len(out) == maxDepth {
				break
			}
			if line.Function != nil && line.Function.Name != "" {
				out = append(out, line.Function.Name)
			}
		}
		if len(l.Line) == 0 {
			out = append(out, unknownFunction)
		}
		if len(out) == maxDepth {
			break
		}
	}
	if len(out) == 0 {
		out = []string{unknownFunction}
	}
	slices.Reverse(out)
	return out
}

const unknownFunction = "(unknown)"

// sdkPackage is the package whose functions call the timed code.
const sdkPackage = "github.com/tarebench/tare/contender"

// trimHarness removes the callers of the timed code, which are the same in every stack.
func trimHarness(frames []string) []string {
	for i := len(frames) - 1; i > 0; i-- {
		if PackageOf(frames[i]) == sdkPackage {
			return frames[i:]
		}
	}
	return frames
}

// PackageOf returns the import path in the name of a function, or "" for a name without a path.
func PackageOf(function string) string {
	plain, _, _ := strings.Cut(function, "[") // without type arguments, which can have paths
	path := ""
	if i := strings.LastIndex(plain, "/"); i >= 0 {
		path, plain = plain[:i+1], plain[i+1:]
	}
	name, _, ok := strings.Cut(plain, ".")
	if !ok {
		return ""
	}
	// The linker escapes points in the last element of a path.
	return path + strings.ReplaceAll(name, "%2e", ".")
}

func shortName(function string) string {
	plain, rest, generic := strings.Cut(function, "[")
	plain = plain[strings.LastIndex(plain, "/")+1:]
	if generic {
		return plain + "[" + rest
	}
	return plain
}

// Top returns the n functions with the largest values without callees.
func (p *Profile) Top(n int) []tare.ProfileLine {
	lines := map[string]*tare.ProfileLine{}
	for _, s := range p.stacks {
		for i, f := range s.frames {
			l := lines[f]
			if l == nil {
				l = &tare.ProfileLine{Function: f}
				lines[f] = l
			}
			if !slices.Contains(s.frames[:i], f) { // count a recursive function once
				l.Cumulative += s.value
			}
			if i == len(s.frames)-1 {
				l.Flat += s.value
			}
		}
	}
	var out []tare.ProfileLine
	for _, l := range lines {
		if l.Flat > 0 {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b tare.ProfileLine) int {
		return compareValues(a.Flat, b.Flat, a.Function, b.Function)
	})
	return out[:min(n, len(out))]
}

// Describe sets the kind, unit, total and top n functions in dst.
func (p *Profile) Describe(dst *tare.Profile, n int) {
	dst.Of, dst.Unit, dst.Total, dst.Top = p.Kind, p.Unit, p.Total, p.Top(n)
}

func compareValues(a, b float64, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), strings.Compare(nameA, nameB))
}

// literalRE matches the end of the name of a function literal, e.g. ".func1" in
// "example.com/parse.Scan.func1". The compiler also makes functions for go and defer statements.
var literalRE = lazyregexp.New(`\.(func\d+|gowrap\d+|deferwrap\d+).*$`)

// DeclaredFunction returns the function in whose declaration a function is: the enclosing one of a
// function literal, or function itself.
func DeclaredFunction(function string) string { return literalRE.ReplaceAllString(function, "") }
