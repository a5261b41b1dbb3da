package counts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Bounds of a file of cachegrind. A test binary has some ten thousand functions.
const (
	maxDocument      = 256 << 20 // bytes
	maxLine          = 1 << 20   // bytes; names of generic functions are long
	maxPlaces        = 4 << 20   // lines with a count
	instructionEvent = "Ir"      // instructions read
	noFunction       = "???"     // cachegrind's name for code without a symbol
	unknownLine      = 0         // line of code without a line number
)

// Place is a line of a function.
type Place struct {
	Function string
	File     string // path that the compiler recorded
	Line     int    // 0 if unknown
}

// Profile holds the instructions that a process executed, by line.
type Profile struct {
	Total  uint64
	Places map[Place]uint64
}

// ReadCachegrind reads an output file of cachegrind whose first event is Ir. It fails unless
// the counts of all lines add up to the file's summary.
func ReadCachegrind(r io.Reader) (*Profile, error) {
	limited := &io.LimitedReader{R: r, N: maxDocument + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	p := &Profile{Places: map[Place]uint64{}}
	place := Place{Function: noFunction} // file and function of the following lines
	hasEvents, hasSummary, number := false, false, 0
	var summary uint64
	wrong := func(format string, args ...any) error { // an error in the current line
		return fmt.Errorf("cachegrind's output, line %d: %s", number, fmt.Sprintf(format, args...))
	}
	for lines.Scan() {
		number++
		line := bytes.TrimRight(lines.Bytes(), "\r")
		if limited.N <= 0 {
			return nil, wrong("more than %d MiB", maxDocument>>20)
		}
		key, value, _ := bytes.Cut(line, []byte("="))
		switch {
		case len(line) == 0 || line[0] == '#',
			bytes.HasPrefix(line, []byte("desc:")), bytes.HasPrefix(line, []byte("cmd:")), bytes.HasPrefix(line, []byte("version:")):
			// The line has no counts.
		case bytes.HasPrefix(line, []byte("events:")):
			events := bytes.Fields(line[len("events:"):])
			if len(events) == 0 || string(events[0]) != instructionEvent {
				return nil, wrong("its first event is not %s", instructionEvent)
			}
			hasEvents = true
		case bytes.HasPrefix(line, []byte("summary:")):
			fields := bytes.Fields(line[len("summary:"):])
			if len(fields) == 0 {
				return nil, wrong("an empty summary")
			}
			var err error
			if summary, err = strconv.ParseUint(string(fields[0]), 10, 64); err != nil {
				return nil, wrong("%q is not a count", fields[0])
			}
			hasSummary = true
		case string(key) == "fl" || string(key) == "fi" || string(key) == "fe":
			place.File = string(value)
		case string(key) == "fn":
			place.Function = string(value)
		default:
			fields := bytes.Fields(line)
			if !hasEvents || len(fields) < 2 {
				return nil, wrong("%q is neither a heading nor a line with its count", clipLine(line))
			}
			n, err := strconv.Atoi(string(fields[0]))
			count, errCount := strconv.ParseUint(string(fields[1]), 10, 64)
			if err != nil || errCount != nil || n < 0 {
				return nil, wrong("%q is not a line with its count", clipLine(line))
			}
			if p.Total+count < p.Total {
				return nil, wrong("more instructions than a number holds")
			}
			place.Line = n
			if _, ok := p.Places[place]; !ok && len(p.Places) >= maxPlaces {
				return nil, wrong("more than %d places", maxPlaces)
			}
			p.Places[place] += count
			p.Total += count
			place.Line = unknownLine
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		number++
		return nil, wrong("longer than %d bytes", maxLine)
	case err != nil:
		return nil, fmt.Errorf("read cachegrind's output: %w", err)
	case limited.N <= 0:
		return nil, wrong("more than %d MiB", maxDocument>>20)
	case !hasSummary:
		return nil, wrong("it ends without a summary: the program was stopped")
	case summary != p.Total:
		return nil, wrong("its lines have %d instructions, its summary %d", p.Total, summary)
	}
	return p, nil
}

// clipLine returns the first 60 bytes of a line for a message.
func clipLine(line []byte) []byte { return line[:min(len(line), 60)] }

// Functions returns the counts by function.
func (p *Profile) Functions() map[string]uint64 {
	all := map[string]uint64{}
	for place, n := range p.Places {
		all[place.Function] += n
	}
	return all
}
