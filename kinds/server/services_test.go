package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
)

// with is the test binary as a variant of itself that a study configures.
func with(variant string, role tare.Role, set map[string]string) build.Program {
	p := program(variant)
	p.Contender.Role, p.Contender.Set = role, set
	return p
}

// told is how the lab tells a configured contender about w.
func (b *bench) told(p build.Program, w tare.Workload) wire.Workload {
	b.t.Helper()
	w.Set = p.Contender.Set
	return b.ready(b.made(w))
}

// probes prepares the probes of an app and compares what comes.
func (b *bench) probes(app string, set map[string]string) (wrong []string, asked bool) {
	b.t.Helper()
	list, err := b.k.Probes(b.t.TempDir(), []wire.Workload{b.made(tare.Workload{ID: "w", Fixture: app, Op: served[app].Ops[0], Traffic: &tare.Traffic{Connections: 1}})})
	if err != nil || len(list) != 1 {
		b.t.Fatalf("probes %v, %v", list, err)
	}
	list[0].Set = set
	a, err := b.Prepare(b.t.Context(), list[0])
	if err != nil {
		b.t.Fatal(err)
	}
	if a.Unsupported {
		return nil, false
	}
	var cases []int
	for i := range list[0].Bodies {
		cases = append(cases, i)
	}
	answers, err := b.Answer(b.t.Context(), list[0].ID, cases)
	if err != nil {
		b.t.Fatal(err)
	}
	if wrong, err = b.k.Compare(list[0], answers); err != nil {
		b.t.Fatal(err)
	}
	return wrong, true
}

func TestIngestIsServed(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]map[string]string{"JSON": nil, "gob": {"body": "gob"}, "file": {setSink: sinkFile}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := with("good", tare.RoleContender, set)
			b := started(t, p)
			var sent float64
			for _, w := range []tare.Workload{ingestWorkload("events", 0, 0), ingestWorkload("events-uniform", 0, 0), ingestWorkload("events-pretty", 30, 8)} {
				in := b.told(p, w)
				b.right(in)
				a := b.visit(in.ID, 10, 100)
				s, _ := b.Gauges(in.ID)
				items := 100 * float64(in.N)
				if w.Op == "events-uniform" {
					items /= 2
				}
				if a.Errors != 0 || s[tare.KeyDelivered] != s[tare.KeyDeliveredAsked] || s[tare.KeyDelivered] < items {
					t.Errorf("%s: %d errors: %s; %v delivered of %v, want %v at least", w.Op, a.Errors, a.Message, s[tare.KeyDelivered], s[tare.KeyDeliveredAsked], items)
				}
				if s[tare.KeyReceivedBody] != s[tare.KeySentBody] || s[tare.KeyReceived] != s[tare.KeyReceivedSent] {
					t.Errorf("%s: %v bytes received of %v", w.Op, s[tare.KeyReceivedBody], s[tare.KeySentBody])
				}
				if w.Op == "events" {
					sent = s[tare.KeyBodySent]
				}
				b.sunk(set[setSink] == sinkFile, s[tare.KeyDelivered])
			}
			if short := sent < 7000; short != (name == "gob") {
				t.Errorf("%v bytes a batch", sent)
			}
			if wrong, asked := b.probes("ingest", set); len(wrong) > 0 || !asked {
				t.Errorf("wrong %q", wrong)
			}
		})
	}
}

// sunk checks that all that was delivered since the workload was prepared is in
// the file, and nothing else is in the trial's directory.
func (b *bench) sunk(file bool, lines float64) {
	b.t.Helper()
	paths, err := filepath.Glob(filepath.Join(b.Conn.(*conn).dir, "*", "events.ndjson"))
	if err != nil || len(paths) != map[bool]int{true: 1}[file] {
		b.t.Fatalf("files %q, %v", paths, err)
	}
	if !file {
		return
	}
	text, err := os.ReadFile(paths[0])
	if n := bytes.Count(text, []byte("\n")); err != nil || float64(n) != lines {
		b.t.Errorf("%d lines in the file of %v, %v", n, lines, err)
	}
}

func TestHomelabIsServed(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"good", "indents"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			b := started(t, program(variant))
			for _, w := range []tare.Workload{homelabWorkload("mix", 0, 0), homelabWorkload("device", 20, 0)} {
				in := b.ready(b.made(w))
				b.right(in)
				a := b.visit(in.ID, 10, 1200) // one is verified, and it is not among the errors
				s, _ := b.Gauges(in.ID)
				if _, tells := s[tare.KeyDelivered]; a.Errors != 0 || tells || s[tare.KeyReceived] != s[tare.KeyReceivedSent] {
					t.Errorf("%s: %+v, gauges %v", w.Op, a, s)
				}
			}
			if wrong, asked := b.probes("homelab", nil); len(wrong) > 0 || !asked {
				t.Errorf("wrong %q", wrong)
			}
		})
	}
}

// Each fault shows where it is looked for.
func TestFaultyServices(t *testing.T) {
	t.Parallel()
	t.Run("loses", func(t *testing.T) {
		t.Parallel()
		b := started(t, program("loses"))
		in := b.ready(b.made(ingestWorkload("events", 0, 0)))
		b.right(in)
		b.visit(in.ID, 0, 50)
		if s, _ := b.Gauges(in.ID); s[tare.KeyDelivered] != 0 || s[tare.KeyDeliveredAsked] < 1000 {
			t.Errorf("%v delivered of %v", s[tare.KeyDelivered], s[tare.KeyDeliveredAsked])
		}
	})
	t.Run("gullible", func(t *testing.T) {
		t.Parallel()
		b := started(t, program("gullible"))
		b.right(b.ready(b.made(ingestWorkload("events", 0, 0))))
		if wrong, _ := b.probes("ingest", nil); len(wrong) < 5 || !strings.Contains(wrong[0], "want status 400, got 200") {
			t.Errorf("wrong %q", wrong)
		}
	})
	t.Run("miscounts", func(t *testing.T) {
		t.Parallel()
		b := started(t, program("miscounts"))
		in := b.ready(b.made(ingestWorkload("events", 0, 0)))
		answers, err := b.Answer(t.Context(), in.ID, []int{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		if wrong, err := b.k.Compare(in, answers); err != nil || len(wrong) != 2 || !strings.Contains(wrong[0], `want body "{\"accepted\":10,`) {
			t.Errorf("wrong %q, %v", wrong, err)
		}
		if a := b.visit(in.ID, 0, 50); a.Errors != 1 || !strings.Contains(a.Message, "answer: POST /: want body") {
			t.Errorf("slice %+v", a)
		}
	})
	t.Run("hollow", func(t *testing.T) {
		t.Parallel()
		b := started(t, program("hollow"))
		if wrong, _ := b.probes("homelab", nil); len(wrong) < 10 || !strings.Contains(wrong[0], `status 404 with the body "{}", which names no error`) {
			t.Errorf("wrong %q", wrong)
		}
	})
}

// Of a contender that stands apart only the status counts, and nobody asks
// whether anything arrived.
func TestApart(t *testing.T) {
	t.Parallel()
	whole := started(t, program("discards"))
	in := whole.ready(whole.made(ingestWorkload("events", 0, 0)))
	if a := whole.visit(in.ID, 0, 50); a.Errors == 0 {
		t.Errorf("its answers pass for whole ones: %+v", a)
	}
	b := started(t, with("discards", tare.RoleApart, nil))
	in = b.ready(b.made(ingestWorkload("events", 0, 0)))
	b.right(in)
	if a := b.visit(in.ID, 0, 50); a.Errors != 0 {
		t.Errorf("slice %+v", a)
	}
	s, _ := b.Gauges(in.ID)
	if _, told := s[tare.KeyDelivered]; told || s[tare.KeyReceivedBody] != s[tare.KeySentBody] {
		t.Errorf("gauges %v", s)
	}
	a := answerOf(t, 0, strictStatus.reduce(Response{Status: 503}))
	if wrong, err := b.k.Compare(in, []wire.Answer{a}); err != nil || len(wrong) != 1 || !strings.Contains(wrong[0], "want status 200, got 503") {
		t.Errorf("wrong %q, %v", wrong, err)
	}
	// What it does not refuse is said by name.
	if wrong, asked := b.probes("ingest", nil); !asked || len(wrong) < 15 || !slices.ContainsFunc(wrong, func(s string) bool {
		return strings.HasSuffix(s, "POST / with an event without a timestamp: want status 400, got 200")
	}) {
		t.Errorf("wrong %q", wrong)
	}
}

// The null contender answers anything to what it does not know, and gets the
// same requests.
func TestNull(t *testing.T) {
	t.Parallel()
	b := started(t, with("null", tare.RoleNull, nil))
	set := map[string]string{setSink: sinkFile, "limit": "50", "body": "gob"}
	for _, w := range []tare.Workload{ingestWorkload("events", 0, 0), homelabWorkload("mix", 0, 0), homelabWorkload(tare.OpStop, 0, 0)} {
		if w.Fixture == "ingest" {
			w.Set = set
		}
		in := b.ready(b.made(w))
		b.right(in)
		a := b.visit(in.ID, 0, 2000)
		s, _ := b.Gauges(in.ID)
		_, told := s[tare.KeyDelivered]
		if a.Errors != 0 || told || s[tare.KeyReceived] != s[tare.KeyReceivedSent] || s[tare.KeyReceivedBody] != s[tare.KeySentBody] || s[tare.KeySentBody] == 0 {
			t.Errorf("%s: %+v, gauges %v", w.ID, a, s)
		}
		if wrong, asked := b.probes(w.Fixture, w.Set); len(wrong) > 0 || !asked {
			t.Errorf("%s: wrong %q", w.ID, wrong)
		}
	}
}

// A server is told to end under load, and how long it takes is seen. The trial
// goes on.
func TestStop(t *testing.T) {
	t.Parallel()
	for variant, least := range map[string]time.Duration{"good": 1, "lingers": lingers} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			b := started(t, program(variant))
			for range 2 {
				in := b.ready(b.made(homelabWorkload(tare.OpStop, 0, 0)))
				b.visit(in.ID, 0, 100)
				s, _ := b.Gauges(in.ID)
				took := time.Duration(s[tare.KeyStop])
				if took < least || took > 10*time.Second || s[tare.KeyReceived] != s[tare.KeyReceivedSent] || s[tare.KeyErrors] != 0 {
					t.Errorf("it took %v, gauges %v", took, s)
				}
				if a, err := b.Stats(t.Context(), in.ID, 10, 0); err != nil || !a.Unsupported {
					t.Errorf("stats %+v, %v", a, err)
				}
				_, err := b.Slice(t.Context(), wire.Request{On: in.ID, Ops: 1}, 0)
				asClass(t, err, tare.ErrContender, "was told to end")
				if s, _ := b.Gauges(in.ID); s[tare.KeyStop] != 0 {
					t.Errorf("it was told twice: %v", s)
				}
			}
			b.right(b.ready(b.made(homelabWorkload("health", 0, 0))))
		})
	}
}

// collecting is the test binary as a command that lays lines into files.
func collecting(part string) build.Program {
	p := asCommand(part)
	p.Contender.Role = tare.RoleApart
	p.Contender.Command = append(p.Contender.Command, "-dir=${DIR}")
	p.Contender.Files = map[string]string{"collect.conf": "$PORT /in/here/\n"}
	p.Contender.Path = "/in/here"
	p.Contender.Delivers = "$DIR/*.log"
	return p
}

// posting is one that sends lines on to the destination of the trial.
func posting(part string) build.Program {
	p := collecting(part)
	p.Contender.Files = map[string]string{"collect.conf": "$PORT /in/here/ ${DESTINATION}\n"}
	p.Contender.Delivers = "$DESTINATION"
	return p
}

// What breaks off, is not gzip or is packed otherwise is not counted.
func TestDestination(t *testing.T) {
	t.Parallel()
	d, err := listenDestination()
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	send := func(body, encoding string, length int) int {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+d.port+"/any?query=x", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Encoding", encoding)
		if length > 0 {
			q.ContentLength = int64(length)
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			return 0
		}
		defer a.Body.Close()
		return a.StatusCode
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("a\nb\nc"))
	_ = z.Close()
	for _, c := range []struct {
		body, encoding string
		length         int
		status         int
		lines          int64
	}{
		{"", "", 0, 200, 0},
		{"a\n", "", 0, 200, 1},
		{"a\nb", "identity", 0, 200, 2},
		{packed.String(), "gzip", 0, 200, 3},
		{packed.String()[:packed.Len()-6], "gzip", 0, 400, 0},
		{"a\nb\n", "gzip", 0, 400, 0},
		{"a\nb\n", "br", 0, 415, 0},
		{"a\nb\n", "", 9, 0, 0},
	} {
		before, _ := d.count()
		if status := send(c.body, c.encoding, c.length); status != c.status {
			t.Errorf("%q as %q: %d, want %d", c.body, c.encoding, status, c.status)
		}
		if after, _ := d.count(); after-before != c.lines {
			t.Errorf("%q as %q: %d lines, want %d", c.body, c.encoding, after-before, c.lines)
		}
	}
}

func TestCommandDelivers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs env")
	}
	t.Parallel()
	for name, c := range map[string]build.Program{
		"collects": collecting("collects"), "forgets": collecting("forgets"),
		"collects and posts": posting("collects"), "forgets and posts": posting("forgets"),
	} {
		part, _, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := started(t, c)
			if part == "forgets" {
				b.k.arrival = 5 * collectLate // on a busy machine events can be late by more than one tick
			}
			for _, w := range []tare.Workload{ingestWorkload("events", 0, 0), ingestWorkload("events-uniform", 0, 0)} {
				in := b.ready(b.made(w))
				b.right(in)
				if a := b.visit(in.ID, 5, 50); a.Errors != 0 {
					t.Fatalf("slice %+v", a)
				}
				began := time.Now()
				s, _ := b.Gauges(in.ID)
				got, asked := s[tare.KeyDelivered], s[tare.KeyDeliveredAsked]
				if part == "collects" && (got != asked || asked < 200) || part == "forgets" && (got == 0 || got >= asked) {
					t.Errorf("%s: %v delivered of %v", w.Op, got, asked)
				}
				if d := time.Since(began); d > 10*time.Second {
					t.Errorf("it took %v", d)
				}
			}
		})
	}
}

// Whoever dies is not waited for.
func TestArrivalOfTheDead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs env")
	}
	t.Parallel()
	b := started(t, collecting("forgets"))
	in := b.ready(b.made(ingestWorkload("events", 0, 0)))
	b.visit(in.ID, 0, 20)
	c := b.Conn.(*conn)
	p, err := os.FindProcess(c.process.PID())
	if err != nil || p.Kill() != nil {
		t.Fatal(err)
	}
	<-c.process.Exited()
	began := time.Now()
	b.Gauges(in.ID)
	if d := time.Since(began); d > arrivalLimit/2 {
		t.Errorf("it took %v", d)
	}
}

func TestLines(t *testing.T) {
	dir := t.TempDir()
	l := &lineCounter{pattern: filepath.Join(dir, "*.log")}
	put := func(name, text string, flag int) {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|flag, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		do   func()
		want int64
	}{
		{func() {}, 0},
		{func() { put("a.log", "1\n2\n3", os.O_APPEND) }, 2},
		{func() { put("a.log", "\n4\n", os.O_APPEND) }, 4},
		{func() { put("b.txt", "no\n", 0); put("b.log", "5\n", 0) }, 5},
		{func() { move("a.log", "a.1.log") }, 5},
		{func() { put("a.log", "6\n", 0) }, 6},
		{func() { put("b.log", "", os.O_TRUNC) }, 5},
		{func() { move("a.log", "a.old") }, 4},
		{func() { put("long.log", strings.Repeat(strings.Repeat("x", 99)+"\n", 10_000), 0) }, 10_004},
		{func() {
			if err := os.Mkdir(filepath.Join(dir, "dir.log"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, 10_004},
	} {
		c.do()
		if n, err := l.count(); err != nil || n != c.want {
			t.Errorf("step %d: %d lines, want %d, %v", i, n, c.want, err)
		}
	}
	if _, err := (&lineCounter{pattern: "["}).count(); err == nil {
		t.Error("a pattern that is none was looked for")
	}
}
