// Package profile reads the pprof documents that contenders return after the
// rounds: it finds the functions that took most and the functions
// behind the gap between two contenders, and draws a flame graph.
//
// It uses no clock and no files.
package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/protowire"
)

// MaxDocument limits the size of an unzipped document in bytes.
const MaxDocument = 256 << 20

// Profile holds the stacks on which a contender spent time or memory.
type Profile struct {
	Of     string  // cpu or mem
	Unit   string  // of all values: nanoseconds or bytes
	Total  float64 // in Unit
	Sample float64 // value of one sample in Unit; 0 if the document lacks it
	stacks []stack
}

// stack is a call stack with its value.
type stack struct {
	frames []string // functions, the outermost first
	value  float64
	before float64 // what of value is the first contender's, where there are two
}

// Read reads a gzipped pprof document as a profile of cpu or mem.
func Read(doc []byte, of string) (*Profile, error) {
	units := map[string]string{tare.ProfileCPU: "nanoseconds", tare.ProfileMem: "bytes"}
	unit, ok := units[of]
	if !ok {
		return nil, fmt.Errorf("profile of %q: there is one of cpu and one of mem", of)
	}
	raw, err := unzip(doc, MaxDocument)
	if err == nil {
		err = checkBounds(raw, maxParts, maxNumbers)
	}
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
	at := valueIn(parsed.SampleType, unit)
	if at < 0 {
		return nil, fmt.Errorf("read a %s profile: no value in %s", of, unit)
	}
	p := &Profile{Of: of, Unit: unit}
	if parsed.PeriodType != nil && parsed.PeriodType.Unit == unit && parsed.Period > 0 {
		p.Sample = float64(parsed.Period)
	}
	kept := 0
	for _, s := range parsed.Sample {
		value := float64(s.Value[at])
		if value <= 0 {
			continue
		}
		st := stack{frames: sampleFrames(s), value: value}
		if kept += len(st.frames); kept > maxFrames {
			return nil, fmt.Errorf("read a %s profile: more than %d frames in all stacks", of, maxFrames)
		}
		st.frames = trimHarness(st.frames)
		p.Total += value
		p.stacks = append(p.stacks, st)
	}
	return p, nil
}

// Bounds of a document, in which a sample can take two bytes: decoded, a part takes some
// hundred bytes and a number ten.
const (
	maxParts   = 4 << 20  // samples, locations, lines, labels, functions, names
	maxNumbers = 32 << 20 // locations and values of samples, and numbers of locations
)

// checkBounds counts the parts and numbers of a document before it is decoded (its fields:
// github.com/google/pprof/proto/profile.proto).
func checkBounds(document []byte, mostParts, mostNumbers int) error {
	const sample, location = 2, 4
	const locations, values = 1, 2 // of a sample
	parts, numbers := 0, 0
	check := func() error {
		switch {
		case parts > mostParts:
			return fmt.Errorf("more than %d samples, locations, functions and other parts", mostParts)
		case numbers > mostNumbers:
			return fmt.Errorf("more than %d numbers in samples and locations", mostNumbers)
		}
		return nil
	}
	return protowire.Walk(document, func(f protowire.Field) error {
		parts++
		if err := check(); err != nil || f.Number != sample && f.Number != location {
			return err
		}
		return protowire.Walk(f.Data, func(in protowire.Field) error {
			switch {
			case !in.Packed:
				numbers++
			case f.Number == sample && (in.Number == locations || in.Number == values):
				for _, b := range in.Data {
					if b < 0x80 { // last byte of a number
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

// unzip unpacks a profile of at most most bytes.
func unzip(doc []byte, most int) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(zip, int64(most)+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > most:
		return nil, fmt.Errorf("more than %d bytes", most)
	case len(raw) == 0:
		return nil, errors.New("it is empty")
	}
	return raw, nil
}

// valueIn returns the index of the value in unit: that of all allocations if there is one, else
// the last, or −1.
func valueIn(types []*profile.ValueType, unit string) int {
	at := -1
	for i, t := range types {
		if t.Type == "alloc_space" && t.Unit == unit {
			return i
		}
		if t.Unit == unit {
			at = i
		}
	}
	return at
}

// Bounds of the stacks, in which a location can be used any number of times.
const (
	maxDepth  = 1000     // frames of a stack, the innermost ones
	maxFrames = 16 << 20 // of all stacks
)

// sampleFrames lists the functions of a sample's stack, the outermost first. Inlined functions
// have their own frame.
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
			out = append(out, unknown)
		}
		if len(out) == maxDepth {
			break
		}
	}
	if len(out) == 0 {
		out = []string{unknown}
	}
	slices.Reverse(out)
	return out
}

// unknown names functions without a name.
const unknown = "(unknown)"

// sdk is the package that calls what a contender is timed on.
const sdk = "github.com/tarebench/tare/contender"

// trimHarness removes the frames above the timed loop, which are the same in every stack.
func trimHarness(frames []string) []string {
	for i := len(frames) - 1; i > 0; i-- {
		if packageOf(frames[i]) == sdk {
			return frames[i:]
		}
	}
	return frames
}

// packageOf returns the import path in a function's name, or "" if there is none.
func packageOf(function string) string {
	plain, _, _ := strings.Cut(function, "[") // type arguments can be paths
	path := ""
	if i := strings.LastIndex(plain, "/"); i >= 0 {
		path, plain = plain[:i+1], plain[i+1:]
	}
	name, _, ok := strings.Cut(plain, ".")
	if !ok {
		return ""
	}
	// Dots in the last element of a path are escaped by the linker.
	return path + strings.ReplaceAll(name, "%2e", ".")
}

// shortName returns a function's name without the path before its package.
func shortName(function string) string {
	plain, rest, generic := strings.Cut(function, "[")
	plain = plain[strings.LastIndex(plain, "/")+1:]
	if generic {
		return plain + "[" + rest
	}
	return plain
}

// Top lists the n functions with the largest own value, largest first.
func (p *Profile) Top(n int) []tare.ProfileLine {
	lines := map[string]*tare.ProfileLine{}
	for _, s := range p.stacks {
		for i, f := range s.frames {
			l := lines[f]
			if l == nil {
				l = &tare.ProfileLine{Function: f}
				lines[f] = l
			}
			if !slices.Contains(s.frames[:i], f) { // a recursion counts once
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

// Describe sets unit, total and the n top functions of a result's profile.
func (p *Profile) Describe(to *tare.Profile, n int) {
	to.Of, to.Unit, to.Total, to.Top = p.Of, p.Unit, p.Total, p.Top(n)
}

// compareValues orders larger values first, and equal ones by name.
func compareValues(a, b float64, nameA, nameB string) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return strings.Compare(nameA, nameB)
}
