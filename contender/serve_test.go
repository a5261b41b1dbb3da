package contender

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/wire"
)

func TestConversation(t *testing.T) {
	var seen []int
	p := echo(func(i int) error { seen = append(seen, i); return nil })
	p.Variants = []string{"-plain", "-fast"}
	l := connect(t, p)
	hello := l.ok(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Variant: "-fast", Seed: "1"})
	if hello.Protocol != wire.Protocol || hello.Kind != "test" || hello.PID != os.Getpid() || hello.Go != runtime.Version() ||
		hello.GOMAXPROCS != runtime.GOMAXPROCS(0) || !reflect.DeepEqual(hello.Variants, p.Variants) {
		t.Errorf("hello: %+v", hello)
	}
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a", "bb", "ccc")})
	answers := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{2, 0}}).Answers
	if want := []wire.Answer{{Case: 2, Output: []byte("ccc-fast")}, {Case: 0, Output: []byte("a-fast")}}; !reflect.DeepEqual(answers, want) {
		t.Errorf("answers %+v, want %+v", answers, want)
	}
	seen = nil
	if a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Lead: 2, Ops: 4}); a.Ops != 4 || a.BytesOut != 3+1+2+3 || a.WallNS <= 0 || a.Errors != 0 {
		t.Errorf("slice: %+v", a)
	}
	if a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 1}); a.Ops != 1 || a.BytesOut != 1 {
		t.Errorf("slice: %+v", a)
	}
	if want := []int{0, 1, 2, 0, 1, 2, 0}; !reflect.DeepEqual(seen, want) {
		t.Errorf("two slices did bodies %v, want %v", seen, want)
	}
	seen = nil
	if a := l.ok(wire.Request{Op: wire.OpStats, On: "w", Ops: 5}); a.Ops != 5 || a.BytesOut != 1+2+3+1+2 {
		t.Errorf("stats: %+v", a)
	}
	if want := []int{0, 1, 2, 0, 1}; !reflect.DeepEqual(seen, want) {
		t.Errorf("stats did bodies %v, want %v", seen, want)
	}
	l.ok(wire.Request{Op: wire.OpBye})
	if err := l.end(); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	p := echo(nil)
	p.Variants = []string{"a"}
	good := workload(t, "w", "1", "2")
	with := func(change func(w *wire.Workload)) *wire.Workload {
		w := *good
		change(&w)
		return &w
	}
	for name, tt := range map[string]struct {
		q           wire.Request
		class, want string
	}{
		"unknown op":        {wire.Request{Op: "serve"}, "unknown-op", `unknown op "serve"`},
		"no op":             {wire.Request{}, "unknown-op", `unknown op ""`},
		"unprepared":        {wire.Request{Op: wire.OpSlice, On: "v", Until: "ops", Ops: 1}, "bad-request", `workload "v" is not prepared`},
		"protocol":          {wire.Request{Op: wire.OpHello, Protocol: "tare.wire/2"}, "bad-request", "speaks tare.wire/1"},
		"variant":           {wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Variant: "b"}, "bad-request", `unknown variant "b"; known: a`},
		"no workload":       {wire.Request{Op: wire.OpPrepare}, "bad-request", "without a workload"},
		"no input":          {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.Input += "x" })}, "load", "pool.ndjsonx"},
		"directory":         {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.Input = t.TempDir() })}, "load", "is not a file"},
		"device":            {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.Input = os.DevNull })}, "load", "is not a file"},
		"other bytes":       {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.SHA256 = "ab" })}, "load", "not ab"},
		"other number":      {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.Bodies = 3 })}, "load", "has 2 bodies, not 3"},
		"case too high":     {wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0, 2}}, "bad-request", "case 2"},
		"case too low":      {wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{-1}}, "bad-request", "case -1"},
		"until nothing":     {wire.Request{Op: wire.OpSlice, On: "w", Ops: 1}, "bad-request", "until"},
		"no ops":            {wire.Request{Op: wire.OpSlice, On: "w", Until: "ops"}, "bad-request", "0 ops"},
		"gc without cap":    {wire.Request{Op: wire.OpSlice, On: "w", Until: "gc"}, "bad-request", "cap_ns"},
		"warm without cap":  {wire.Request{Op: wire.OpWarm, On: "w", MinGC: 1}, "bad-request", "cap_ns"},
		"negative":          {wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: -1}, "bad-request", "negative"},
		"negative lead":     {wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 1, Lead: -5}, "bad-request", "negative"},
		"heap too large":    {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.Heap = maxHeap + 1 })}, "bad-request", "heap_bytes 1073741825"},
		"heap below zero":   {wire.Request{Op: wire.OpPrepare, Workload: with(func(w *wire.Workload) { w.Heap = -1 })}, "bad-request", "heap_bytes -1"},
		"stats without ops": {wire.Request{Op: wire.OpStats, On: "w"}, "bad-request", "without ops"},
	} {
		t.Run(name, func(t *testing.T) {
			l := visit(t, p)
			l.ok(wire.Request{Op: wire.OpPrepare, Workload: good})
			a := l.do(tt.q)
			if a.Error == nil || a.Error.Class != tt.class || !strings.Contains(a.Error.Message, tt.want) {
				t.Errorf("%+v: reply %+v, error %v; want %s with %q", tt.q, a, a.Error, tt.class, tt.want)
			}
			l.ok(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
			l.ok(wire.Request{Op: wire.OpPrepare, Workload: good})
			l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 1})
		})
	}
	l := connect(t, p)
	if a := l.do(wire.Request{Op: wire.OpPrepare, Workload: good}); a.Error == nil || a.Error.Class != "bad-request" {
		t.Errorf("prepare before hello: %+v", a)
	}
}

// TestHelloStartsOver: a second hello forgets what was prepared under another
// variant.
func TestHelloStartsOver(t *testing.T) {
	l := visit(t, echo(nil))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1")})
	l.ok(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w", Ops: 1}); a.Error == nil {
		t.Error("the workload is still there")
	}
}

func TestGarbageLines(t *testing.T) {
	l := visit(t, echo(nil))
	for _, line := range []string{"hello?", "", "null", `{"id":"one"}`, `{"id":3`, strings.Repeat("x", wire.MaxLine+10)} {
		if _, err := io.WriteString(l.raw, line+"\n"); err != nil {
			t.Fatal(err)
		}
		a, err := l.hear.Reply()
		if err != nil || a.ID != 0 || a.Error == nil || a.Error.Class != "bad-request" {
			t.Errorf("%.20q: reply %+v, %v", line, a, err)
		}
	}
	l.ok(wire.Request{Op: wire.OpBye})
}

func TestEndOfRequests(t *testing.T) {
	l := visit(t, echo(nil))
	l.raw.Close()
	if err := l.end(); err != nil {
		t.Errorf("end of file between lines: %v", err)
	}
	l = visit(t, echo(nil))
	io.WriteString(l.raw, `{"id":`)
	l.raw.Close()
	if err := l.end(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("end of file within a line: %v", err)
	}
	if err := Serve(echo(nil), strings.NewReader(`{"id":1,"op":"bye"}`+"\n"), brokenPipe{}); err == nil {
		t.Error("a broken reply pipe goes unnoticed")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestPrepareOutcomes(t *testing.T) {
	w := workload(t, "w", "1")
	if a := visit(t, echo(nil)).do(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Op: "fly", Input: w.Input, Bodies: 1, SHA256: w.SHA256}}); !a.Unsupported || a.Error != nil {
		t.Errorf("an unsupported operation: %+v", a)
	}
	for name, tt := range map[string]struct {
		prepare     func(string, wire.Workload, [][]byte) (Work, error)
		class, want string
	}{
		"error": {func(string, wire.Workload, [][]byte) (Work, error) { return Work{}, errors.New("no\nmemory") }, "load", "no; memory"},
		"panic": {func(string, wire.Workload, [][]byte) (Work, error) { panic("ouch") }, "internal", "panic: ouch ("},
		"empty": {func(string, wire.Workload, [][]byte) (Work, error) { return Work{}, nil }, "internal", "without Do"},
	} {
		a := visit(t, Program{Kind: "test", Prepare: tt.prepare}).do(wire.Request{Op: wire.OpPrepare, Workload: w})
		if a.Error == nil || a.Error.Class != tt.class || !strings.Contains(a.Error.Message, tt.want) {
			t.Errorf("%s: %+v, %v", name, a, a.Error)
		}
	}
}

func TestPanickingOperation(t *testing.T) {
	var m map[string]int
	for name, tt := range map[string]struct {
		do   func()
		want string
	}{
		"nil map": {func() { m["x"] = 1 }, "assignment to entry in nil map"},
		"value":   {func() { panic(errors.New("two\nlines")) }, "panic: two; lines"},
		"nil":     {func() { panic(nil) }, "nil"},
		"long":    {func() { panic(strings.Repeat("é", 1<<20)) }, "éé …"},
	} {
		armed := true
		l := visit(t, echo(func(int) error {
			if armed {
				tt.do()
			}
			return nil
		}))
		l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1", "2")})
		for _, q := range []wire.Request{
			{Op: wire.OpWarm, On: "w"},
			{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 3},
			{Op: wire.OpStats, On: "w", Ops: 3},
		} {
			a := l.do(q)
			if a.Error == nil || a.Error.Class != "internal" || !strings.Contains(a.Error.Message, tt.want) {
				t.Fatalf("%s: %s: %+v, %.200v", name, q.Op, a, a.Error)
			}
			if name == "nil map" && !strings.Contains(a.Error.Message, "serve_test.go:") {
				t.Errorf("%s: %q does not say where", q.Op, a.Error.Message)
			}
		}
		armed = false
		l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 3})
	}
}

// TestPanickingAnswer: a panic is an error of the case in which it happens, and
// the cases after it are answered.
func TestPanickingAnswer(t *testing.T) {
	var m map[string]int
	l := visit(t, echo(func(i int) error {
		switch i {
		case 1:
			m["x"] = 1
		case 2:
			panic(errors.New("two\nlines"))
		}
		return nil
	}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a", "b", "c", "d")})
	a := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0, 1, 2, 3, 1}}).Answers
	if len(a) != 5 {
		t.Fatalf("answers: %+v", a)
	}
	for k, want := range []string{"", "panic: assignment to entry in nil map (", "panic: two; lines (", "", "serve_test.go:"} {
		if want == "" && (a[k].Error != "" || string(a[k].Output) != string(rune('a'+a[k].Case))) ||
			want != "" && (!strings.Contains(a[k].Error, want) || a[k].Output != nil || a[k].Case != []int{0, 1, 2, 3, 1}[k]) {
			t.Errorf("answer %d: %+v, want %q", k, a[k], want)
		}
	}
}

// TestSizeOfAnswers: what a contender says about the size of its output is on
// the wire as it said it.
func TestSizeOfAnswers(t *testing.T) {
	p := Program{Kind: "test", Prepare: func(string, wire.Workload, [][]byte) (Work, error) {
		return Work{Do: func(int) (int, error) { return 3, nil }, Answer: func(i int) (Answered, error) {
			return Answered{Output: []byte("in words"), Size: int64(3 * i)}, nil
		}}, nil
	}}
	l := visit(t, p)
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a", "b")})
	want := []wire.Answer{{Case: 1, Output: []byte("in words"), Size: 3}, {Case: 0, Output: []byte("in words")}}
	if a := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{1, 0}}).Answers; !reflect.DeepEqual(a, want) {
		t.Errorf("answers %+v, want %+v", a, want)
	}
}

// textless is an error that says nothing.
type textless struct{}

func (textless) Error() string { return "" }

func TestFirstErrorIsReported(t *testing.T) {
	calls := 0
	l := visit(t, echo(func(i int) error {
		calls++
		switch {
		case calls%3 == 0:
			return errors.New("call " + string(rune('0'+calls)))
		case calls == 10:
			return textless{}
		}
		return nil
	}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "1", "2")})
	if a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Lead: 4, Ops: 5}); a.Ops != 5 || a.Errors != 2 || a.Message != "call 6" {
		t.Errorf("slice: %+v", a)
	}
	if a := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0, 1}}).Answers; !strings.Contains(a[0].Error, "textless") || a[0].Output != nil || a[1].Error != "" {
		t.Errorf("answers: %+v", a)
	}
	calls = 0
	if a := l.ok(wire.Request{Op: wire.OpStats, On: "w", Ops: 4}); a.Errors != 1 || a.Message != "call 3" {
		t.Errorf("stats: %+v", a)
	}
	if a := l.ok(wire.Request{Op: wire.OpWarm, On: "w"}); a.Errors == 0 || a.Message != "call 6" {
		t.Errorf("warm: %+v", a)
	}
}

func TestAnswersThatDoNotFit(t *testing.T) {
	l := visit(t, echo(nil))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", strings.Repeat("x", wire.MaxLine/2), "y")})
	if a := l.do(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0, 0}}); a.Error == nil || !strings.Contains(a.Error.Message, "fewer cases") {
		t.Errorf("two large answers: %v", a.Error)
	}
	if a := l.ok(wire.Request{Op: wire.OpAnswer, On: "w", Cases: []int{0}}); len(a.Answers[0].Output) != wire.MaxLine/2 {
		t.Errorf("one large answer has %d bytes", len(a.Answers[0].Output))
	}
}

func TestStartWithoutLab(t *testing.T) {
	t.Setenv(wire.EnvWire, "")
	var stderr bytes.Buffer
	if code := startProgram(echo(nil), &stderr); code != 2 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "tare run") {
		t.Errorf("code %d, %q", code, stderr.String())
	}
	t.Setenv(wire.EnvWire, "9000,9001")
	stderr.Reset()
	if code := startProgram(echo(nil), &stderr); code != 1 || !strings.Contains(stderr.String(), "descriptor 9000") {
		t.Errorf("code %d, %q", code, stderr.String())
	}
}
