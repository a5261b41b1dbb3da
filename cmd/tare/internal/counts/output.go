package counts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// This file reads the output files of Valgrind's tools. For example, the line "12 400" is a line 12
// of the source that executed 400 instructions.

// Bounds of an output file of Valgrind. A test binary has some ten thousand functions.
const (
	maxDocument      = 256 << 20 // bytes
	maxLine          = 1 << 20   // bytes; names of generic functions are long
	maxPlaces        = 4 << 20   // lines with a count, and call sites
	instructionEvent = "Ir"      // instructions read
	noFunction       = "???"     // Valgrind's name for code without a symbol
)

// Place is a line of a function.
type Place struct {
	Function string
	File     string // path that the compiler recorded
	Line     int    // 0 if unknown
}

// Call is a line of a function that calls another function.
type Call struct {
	Place
	Callee string
}

// Profile holds the instructions that a process executed, by line.
type Profile struct {
	Total  uint64
	Places map[Place]uint64
	Calls  map[Call]uint64 // nil unless callgrind counted
}

// Tools of Valgrind that count. Callgrind also counts calls, and takes twice as long.
const (
	cachegrind = "cachegrind"
	callgrind  = "callgrind"
)

type outputReader struct {
	tool    string
	profile *Profile
	number  int // current line

	place                 Place  // function and file of the following lines
	callee                string // function of the next line "calls="
	calls                 uint64 // calls at the next line; 0 if it is no call site
	hasEvents, hasSummary bool
	isCallSite            bool // the next line is a call site, not a count of its own
	summary               uint64
}

// readOutput reads an output file of cachegrind or callgrind. The first event must be Ir
// (instructions), and names and line numbers must not be compressed. All counts must add up to the
// file's summary.
func readOutput(tool string, r io.Reader) (*Profile, error) {
	limited := &io.LimitedReader{R: r, N: maxDocument + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	o := &outputReader{tool: tool, profile: &Profile{Places: map[Place]uint64{}}, place: Place{Function: noFunction}}
	if tool == callgrind {
		o.profile.Calls = map[Call]uint64{}
	}
	for lines.Scan() {
		o.number++
		if limited.N <= 0 {
			return nil, o.lineError("more than %d MiB", maxDocument>>20)
		}
		if err := o.readLine(bytes.TrimRight(lines.Bytes(), "\r")); err != nil {
			return nil, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		o.number++
		return nil, o.lineError("longer than %d bytes", maxLine)
	case err != nil:
		return nil, fmt.Errorf("read %s's output: %w", tool, err)
	case limited.N <= 0:
		return nil, o.lineError("more than %d MiB", maxDocument>>20)
	case !o.hasSummary:
		return nil, o.lineError("it ends without a summary: the program was stopped")
	case o.summary != o.profile.Total:
		return nil, o.lineError("its lines have %d instructions, its summary %d", o.profile.Total, o.summary)
	}
	return o.profile, nil
}

func (o *outputReader) lineError(format string, args ...any) error {
	return fmt.Errorf("%s's output, line %d: %s", o.tool, o.number, fmt.Sprintf(format, args...))
}

func headerPrefixes() []string {
	return []string{"#", "desc:", "cmd:", "version:", "creator:", "pid:", "part:", "thread:", "positions:", "totals:"}
}

func (o *outputReader) readLine(line []byte) error {
	for _, header := range headerPrefixes() {
		if bytes.HasPrefix(line, []byte(header)) {
			return nil
		}
	}
	if len(line) == 0 {
		return nil
	}
	if text, ok := bytes.CutPrefix(line, []byte("events:")); ok {
		events := bytes.Fields(text)
		if len(events) == 0 || string(events[0]) != instructionEvent {
			return o.lineError("its first event is not %s", instructionEvent)
		}
		o.hasEvents = true
		return nil
	}
	if text, ok := bytes.CutPrefix(line, []byte("summary:")); ok {
		return o.readSummary(bytes.Fields(text))
	}
	key, value, _ := bytes.Cut(line, []byte("="))
	switch string(key) {
	case "fl", "fi", "fe":
		o.place.File = string(value)
	case "fn":
		o.place.Function = string(value)
	case "ob", "cob", "cfi", "cfl": // the object file, and where the callee is
	case "cfn":
		o.callee = string(value)
	case "calls":
		return o.readCalls(line, bytes.Fields(value))
	default:
		return o.readCount(line, bytes.Fields(line))
	}
	return nil
}

func (o *outputReader) readSummary(fields [][]byte) (err error) {
	if len(fields) == 0 {
		return o.lineError("an empty summary")
	}
	if o.summary, err = strconv.ParseUint(string(fields[0]), 10, 64); err != nil {
		return o.lineError("%q is not a count", fields[0])
	}
	o.hasSummary = true
	return nil
}

func (o *outputReader) readCalls(line []byte, fields [][]byte) (err error) {
	if o.profile.Calls == nil || o.callee == "" || len(fields) == 0 {
		return o.lineError("%q is no number of calls of a function", clipLine(line))
	}
	if o.calls, err = strconv.ParseUint(string(fields[0]), 10, 64); err != nil {
		return o.lineError("%q is no number of calls of a function", clipLine(line))
	}
	o.isCallSite = true
	return nil
}

// readCount reads a line number with its count, or with that of the functions called there.
func (o *outputReader) readCount(line []byte, fields [][]byte) error {
	if !o.hasEvents || len(fields) < 2 {
		return o.lineError("%q is neither a heading nor a line with its count", clipLine(line))
	}
	n, err := strconv.Atoi(string(fields[0]))
	count, errCount := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil || errCount != nil || n < 0 {
		return o.lineError("%q is not a line with its count", clipLine(line))
	}
	p := o.profile
	place := o.place
	place.Line = n
	if o.isCallSite { // the lines of the callee have its count
		o.isCallSite = false
		if len(p.Calls) >= maxPlaces {
			return o.lineError("more than %d call sites", maxPlaces)
		}
		p.Calls[Call{place, o.callee}] += o.calls
		return nil
	}
	if p.Total+count < p.Total {
		return o.lineError("more instructions than a number holds")
	}
	if _, ok := p.Places[place]; !ok && len(p.Places) >= maxPlaces {
		return o.lineError("more than %d places", maxPlaces)
	}
	p.Places[place] += count
	p.Total += count
	return nil
}

func clipLine(line []byte) []byte { return line[:min(len(line), 60)] }
