package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tarebench/tare/contender/wire"
)

func fullRequest() wire.Request {
	return wire.Request{
		ID: 7, Op: wire.OpSlice, Protocol: wire.Protocol, Trial: "t<1>", Seed: "18446744073709551615", Variant: "fastest",
		Workload: &wire.Workload{ID: "w", Fixture: "devices", N: 50, Op: "marshal", Input: "pool.ndjson", Bodies: 64, SHA256: "00", Heap: 5, Set: map[string]string{"log": "pty"}, Spec: []byte(`{"app":"tiny"}`)},
		On:       "w", Cases: []int{0, 3}, MinGC: 3, MinNS: 4, CapNS: 5, Lead: 6, Until: "gc", Ops: 8, Cycles: 9, CapOps: 10, Profile: "cpu",
	}
}

func fullReply() wire.Reply {
	return wire.Reply{
		ID: 7, Error: &wire.Error{Class: "internal", Message: "two\nlines"}, Hello: wire.Hello{Protocol: wire.Protocol, Kind: "codec", PID: 1, Go: "go1.25",
			GOMAXPROCS: 1, Variants: []string{"a"}}, Prepared: wire.Prepared{Unsupported: true, Fresh: true, Addr: "127.0.0.1:80"},
		Answers: []wire.Answer{{Case: 3, Output: []byte("\x00\n\xff"), Error: "no"}},
		Counts:  wire.Counts{Ops: math.MaxInt64, WallNS: 2, CPUNS: 3, IdleCPUNS: 4, GC: 5, Errors: 6, BytesOut: 7, Bytes: 8, Allocs: 9, Message: "m"}, Served: wire.Served{Received: 10, ReceivedBody: 11, LayerCalls: 12, Delivered: 77}, Profile: []byte("p"),
		Calling: wire.Calling{Begun: 12, UnderWayNS: 13, Latency: []byte("h1."), Service: []byte("h2."), Lag: []byte("h3."), Unsent: 14}, Traffic: wire.Traffic{Opened: 15, WireIn: 16, WireOut: 17}, Calls: &wire.Calls{Create: 1, Get: 2, Update: 3, Delete: 4, List: 5, Sum: math.MaxUint64},
	}
}

// allSet fails for a field that a full message forgets, so that a new field
// cannot miss the round trip.
func allSet(t *testing.T, v any) {
	t.Helper()
	r := reflect.ValueOf(v)
	for i := range r.NumField() {
		if r.Field(i).IsZero() {
			t.Errorf("%T.%s is not set in the test's message", v, r.Type().Field(i).Name)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	q, a := fullRequest(), fullReply()
	allSet(t, q)
	allSet(t, *q.Workload)
	allSet(t, a)
	allSet(t, *a.Calls)
	var buf bytes.Buffer
	w := wire.NewWriter(&buf)
	if err := errors.Join(w.Request(q), w.Reply(a)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(buf.String(), "\n"); n != 2 {
		t.Errorf("two messages took %d lines", n)
	}
	// One byte at a time: a message may arrive in any number of pieces.
	r := wire.NewReader(iotest.OneByteReader(&buf))
	gotQ, err := r.Request()
	if err != nil || !reflect.DeepEqual(gotQ, q) {
		t.Errorf("request %+v, %v; want %+v", gotQ, err, q)
	}
	gotA, err := r.Reply()
	if err != nil || !reflect.DeepEqual(gotA, a) {
		t.Errorf("reply %+v, %v; want %+v", gotA, err, a)
	}
	if _, err := r.Reply(); err != io.EOF {
		t.Errorf("after the last line: %v, want io.EOF", err)
	}
}

func TestReaderRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"text":        {"hello world", `not a JSON object: "hello world"`},
		"empty":       {"", `not a JSON object: ""`},
		"null":        {"null", `not a JSON object: "null"`},
		"array":       {"[1]", `not a JSON object: "[1]"`},
		"half":        {`{"id":1`, `{\"id\":1`},
		"two":         {`{"id":1}{"id":2}`, "not a message"},
		"wrong type":  {`{"id":"1"}`, "not a message"},
		"long number": {`{"id":99999999999999999999}`, "not a message"},
	} {
		t.Run(name, func(t *testing.T) {
			r := wire.NewReader(strings.NewReader(tt.line + "\n" + `{"id":5,"op":"bye","later":{"x":[1]}}` + "\r\n"))
			_, err := r.Request()
			var bad *wire.LineError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want a LineError with %q", err, tt.want)
			}
			if q, err := r.Request(); err != nil || q.ID != 5 || q.Op != wire.OpBye {
				t.Errorf("the next line reads as %+v, %v", q, err)
			}
		})
	}
}

func TestReaderHalfALine(t *testing.T) {
	r := wire.NewReader(strings.NewReader(`{"id":1,"op":"bye"}`))
	if _, err := r.Request(); err != io.ErrUnexpectedEOF {
		t.Errorf("a line without its end: %v, want io.ErrUnexpectedEOF", err)
	}
	broken := errors.New("broken")
	r = wire.NewReader(iotest.ErrReader(broken))
	if _, err := r.Request(); !errors.Is(err, broken) {
		t.Errorf("a reader's own error became %v", err)
	}
}

// padded is a request whose line, without its end, is n bytes long.
func padded(n int) string {
	const frame = `{"id":1,"trial":""}`
	return `{"id":1,"trial":"` + strings.Repeat("x", n-len(frame)) + `"}`
}

func TestLongestLine(t *testing.T) {
	r := wire.NewReader(strings.NewReader(padded(wire.MaxLine) + "\n" + padded(wire.MaxLine+1) + "\n" + padded(3*wire.MaxLine) + "\n" + `{"id":9}` + "\n"))
	if q, err := r.Request(); err != nil || q.ID != 1 {
		t.Fatalf("a line of exactly MaxLine: %v", err)
	}
	for range 2 {
		_, err := r.Request()
		var bad *wire.LineError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "longer than 16777216 bytes") || len(err.Error()) > 200 {
			t.Fatalf("a line over MaxLine: %.300v", err)
		}
	}
	if q, err := r.Request(); err != nil || q.ID != 9 {
		t.Errorf("the line after it reads as %+v, %v", q, err)
	}
}

// endless never ends its line and never runs dry.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestEndlessLineIsGivenUp(t *testing.T) {
	var in endless
	_, err := wire.NewReader(&in).Reply()
	var bad *wire.LineError
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	if in.read > wire.MaxLine+1<<20 {
		t.Errorf("read %d bytes before giving up", in.read)
	}
}

// counting counts calls of Write.
type counting struct{ calls, bytes int }

func (c *counting) Write(p []byte) (int, error) {
	c.calls++
	c.bytes += len(p)
	return len(p), nil
}

func TestWriterOneWritePerLine(t *testing.T) {
	var out counting
	w := wire.NewWriter(&out)
	for i := range 3 {
		if err := w.Reply(wire.Reply{ID: int64(i), Answers: []wire.Answer{{Output: make([]byte, 1<<20*i)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if out.calls != 3 {
		t.Errorf("%d writes for 3 lines", out.calls)
	}
	before := out.bytes
	err := w.Reply(wire.Reply{Answers: []wire.Answer{{Output: make([]byte, wire.MaxLine)}}})
	var bad *wire.LineError
	if !errors.As(err, &bad) || out.bytes != before {
		t.Errorf("a reply over MaxLine: %v, %d bytes written", err, out.bytes-before)
	}
	if err := w.Reply(wire.Reply{ID: 4}); err != nil || out.calls != 4 {
		t.Errorf("the writer does not go on after it: %v", err)
	}
}

func FuzzRequest(f *testing.F) {
	full, err := json.Marshal(fullRequest())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add([]byte(`{"id":1,"op":"hello","protocol":"tare.wire/1"}`))
	f.Add([]byte("{}\nnull\n{"))
	f.Fuzz(func(t *testing.T, line []byte) {
		again(t, line, (*wire.Reader).Request, (*wire.Writer).Request)
	})
}

func FuzzReply(f *testing.F) {
	full, err := json.Marshal(fullReply())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add([]byte(`{"id":1,"error":{"class":"internal","message":"x"}}`))
	f.Add([]byte(`{"answers":[{"case":1,"output":"!"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		again(t, line, (*wire.Reader).Reply, (*wire.Writer).Reply)
	})
}

// again reads every message in data; what reads must write, and read again as
// the same, and every error is one line.
func again[M any](t *testing.T, data []byte, read func(*wire.Reader) (M, error), write func(*wire.Writer, M) error) {
	r := wire.NewReader(bytes.NewReader(append(data, '\n')))
	for {
		m, err := read(r)
		var bad *wire.LineError
		switch {
		case err == io.EOF:
			return
		case errors.As(err, &bad):
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			continue
		case err != nil:
			t.Fatalf("a reader of bytes failed: %v", err)
		}
		var buf bytes.Buffer
		if err := write(wire.NewWriter(&buf), m); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		got, err := read(wire.NewReader(&buf))
		if err != nil || !same(got, m) {
			t.Fatalf("read again as %+v, %v; was %+v", got, err, m)
		}
	}
}

// same compares messages as they are on the wire: empty and missing lists are
// one and the same there.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
