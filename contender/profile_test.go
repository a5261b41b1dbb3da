package contender

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/protowire"
)

var kept1024 []byte

//go:noinline
func allocateAKilobyte() { kept1024 = make([]byte, 1024) }

//go:noinline
func burnSomeTime() (sum float64) {
	for i := range 20000 {
		sum += math.Sqrt(float64(i))
	}
	return sum
}

// document is what a profile says, as far as these tests need it.
type document struct {
	names   []string
	bytes   int64 // of the second value of all samples
	objects int64
	types   int
	period  uint64
}

func read(t *testing.T, doc []byte) document {
	t.Helper()
	raw, err := gunzipDoc(doc)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	err = protowire.Walk(raw, func(f protowire.Field) error {
		switch f.Number {
		case profileSampleType:
			d.types++
		case 6: // string table
			d.names = append(d.names, string(f.Data))
		case profilePeriod:
			d.period = f.N
		}
		return nil
	})
	if err := errors.Join(err, visitSamples(raw, func(s sample, _ string) {
		d.objects += s.values[0]
		d.bytes += s.values[1]
	})); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d document) names1(part string) bool {
	return slices.ContainsFunc(d.names, func(s string) bool { return strings.Contains(s, part) })
}

func TestProfileOfTime(t *testing.T) {
	l := visit(t, echo(func(i int) error {
		burnSomeTime()
		if i == 1 {
			return errors.New("every third")
		}
		return nil
	}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a", "b", "c")})
	for end := time.Now().Add(20 * time.Second); ; {
		a := l.ok(wire.Request{Op: wire.OpProfile, On: "w", Profile: "cpu", MinNS: 2e8})
		if a.Ops < 1 || a.Errors > (a.Ops+2)/3 || a.Errors < a.Ops/3 || a.Message != "every third" {
			t.Fatalf("%d operations, %d errors, %q", a.Ops, a.Errors, a.Message)
		}
		if d := read(t, a.Profile); d.names1("contender.burnSomeTime") && d.names1("contender.(*work).run") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what ran all the time is in no profile")
		}
	}
	if a := l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 3}); a.Ops != 3 {
		t.Errorf("afterwards: %+v", a)
	}
}

func TestProfileOfMemory(t *testing.T) {
	rate := runtime.MemProfileRate
	l := visit(t, echo(func(int) error { allocateAKilobyte(); return nil }))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a")})
	for again := range 3 { // each has its own and nothing of those before
		l.ok(wire.Request{Op: wire.OpSlice, On: "w", Until: "ops", Ops: 20000})
		ops, got, min := int64(0), int64(0), int64(50e6)
		for ops < 20000 { // 5,000 samples: a standard error of 1.4 %
			a := l.ok(wire.Request{Op: wire.OpProfile, On: "w", Profile: "mem", MinNS: min})
			d := read(t, a.Profile)
			if d.types != 2 || d.period != sampleEvery || !d.names1("contender.allocateAKilobyte") || !d.names1("alloc_space") {
				t.Fatalf("%d values per sample, one in %d bytes, of %q", d.types, d.period, d.names)
			}
			ops, got = ops+a.Ops, got+d.bytes
			if mean := d.bytes / max(1, d.objects); mean < 900 || mean > 1400 {
				t.Errorf("blocks have %d bytes in the mean, want about 1024", mean)
			}
			min *= 2
		}
		if per := float64(got) / float64(ops); per < 0.9*1024 || per > 1.15*1024 {
			t.Errorf("profile %d: %.0f bytes per operation, want 1024", again+1, per)
		}
	}
	if runtime.MemProfileRate != rate {
		t.Errorf("the rate is %d afterwards, and was %d", runtime.MemProfileRate, rate)
	}
}

// A panic in the contender's code does not leave a profiler running.
func TestProfileOfAPanic(t *testing.T) {
	broken := true
	l := visit(t, echo(func(int) error {
		if broken {
			panic("no good")
		}
		return nil
	}))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a")})
	rate := runtime.MemProfileRate
	for _, of := range []string{"cpu", "mem"} {
		broken = true
		if a := l.do(wire.Request{Op: wire.OpProfile, On: "w", Profile: of, MinNS: 1}); a.Error == nil || a.Error.Class != "internal" || !strings.Contains(a.Error.Message, "no good") {
			t.Errorf("%s: %+v", of, a)
		}
		broken = false
		if a := l.ok(wire.Request{Op: wire.OpProfile, On: "w", Profile: of, MinNS: 1}); len(a.Profile) == 0 || a.Ops < 1 {
			t.Errorf("%s afterwards: %+v", of, a)
		}
	}
	if runtime.MemProfileRate != rate {
		t.Errorf("the rate is %d afterwards, and was %d", runtime.MemProfileRate, rate)
	}
}

func TestProfileRefusals(t *testing.T) {
	l := visit(t, echo(nil))
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: workload(t, "w", "a")})
	for want, q := range map[string]wire.Request{
		"profile without min_ns":                              {On: "w", Profile: "cpu"},
		`there is a profile of cpu and one of mem, not of ""`: {On: "w", MinNS: 1},
		"not of \"heap\"":                                     {On: "w", MinNS: 1, Profile: "heap"},
		`"v" is not prepared`:                                 {On: "v", MinNS: 1, Profile: "cpu"},
		"no number of a request can be":                       {On: "w", MinNS: -1, Profile: "cpu"},
	} {
		q.Op = wire.OpProfile
		if a := l.do(q); a.Error == nil || a.Error.Class != "bad-request" || !strings.Contains(a.Error.Message, want) {
			t.Errorf("%+v, want %q", a.Error, want)
		}
	}
}

// The work of a server comes from outside; a profile of it only waits.
func TestProfileOfAServer(t *testing.T) {
	stop := make(chan bool)
	done := make(chan bool)
	l := visit(t, Program{Kind: "test", Serve: func(string, wire.Workload) (Served, error) {
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					allocateAKilobyte()
					runtime.Gosched()
				}
			}
		}()
		return Served{Addr: "127.0.0.1:1", Stop: func() { close(stop); <-done }}, nil
	}})
	l.ok(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Op: "get"}})
	began := time.Now()
	a := l.ok(wire.Request{Op: wire.OpProfile, On: "w", Profile: "mem", MinNS: 5e7})
	if d := read(t, a.Profile); a.Ops != 0 || time.Since(began) < 5e7 || !d.names1("allocateAKilobyte") {
		t.Errorf("%d operations after %v, of %q", a.Ops, time.Since(began), d.names)
	}
}

// testDocument is a profile of one stack, as runtime/pprof would write it.
func testDocument(id uint64, values ...byte) []byte {
	location := []byte{locationID << 3, byte(id), locationAddress << 3, 0x55}
	label := protowire.AppendBytes(nil, sampleLabel, []byte{1 << 3, 7, labelNumber << 3, 64})
	s := append(protowire.AppendBytes([]byte{sampleLocation << 3, byte(id), sampleLocation << 3, byte(id)}, sampleValue, values), label...)
	doc := protowire.AppendBytes(nil, profileSampleType, []byte{1 << 3, 1})
	for range 3 {
		doc = protowire.AppendBytes(doc, profileSampleType, []byte{1 << 3, 2})
	}
	return protowire.AppendBytes(protowire.AppendBytes(doc, profileSample, s), profileLocation, location)
}

func TestDifference(t *testing.T) {
	sum := func(doc []byte) (out [keptValues]int64) {
		if err := visitSamples(doc, func(s sample, _ string) {
			for i, v := range s.values {
				out[i] += v
			}
		}); err != nil {
			t.Error(err)
		}
		return out
	}
	early, late := testDocument(3, 2, 64, 1, 32), testDocument(9, 5, 100, 1, 32)
	both := append(slices.Clone(late), late...)
	for _, c := range []struct {
		name          string
		before, after []byte
		want          [keptValues]int64
	}{
		{"nothing before", nil, late, [keptValues]int64{5, 100}},
		{"another id, one stack", early, late, [keptValues]int64{3, 36}},
		{"twice", early, both, [keptValues]int64{8, 136}},
		{"nothing new", late, late, [keptValues]int64{}},
	} {
		all, err := diffUnzipped(c.before, c.after, 1) // every block is sampled: nothing to scale
		if err != nil || sum(all) != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, sum(all), err, c.want)
		}
	}
	scaled, err := diffUnzipped(nil, testDocument(1, 1, 64), 4096)
	if got := sum(scaled); err != nil || got[0] != 65 || got[1] != 4128 { // 1/(1 − exp(−1/64)) = 64.5
		t.Errorf("scaled: %v %v, want 65 objects of 4128 bytes", got, err)
	}
}

func FuzzDifference(f *testing.F) {
	f.Add([]byte{}, testDocument(1, 1, 64))
	f.Add(testDocument(1, 1, 64), testDocument(2, 3, 99, 4, 5))
	if doc, err := writeAllocs(); err == nil {
		if raw, err := gunzipDoc(doc); err == nil {
			f.Add(raw, raw[:len(raw)/2])
		}
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		out, err := diffUnzipped(before, after, 4096)
		if err != nil {
			return
		}
		if err := visitSamples(out, func(sample, string) {}); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

func TestUnzipRefuses(t *testing.T) {
	if _, err := diffProfiles([]byte("no gzip"), []byte("no gzip"), 1); !errors.Is(err, errDocument) {
		t.Errorf("%v", err)
	}
	good, err := gzipDoc(testDocument(1, 1, 64))
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := diffProfiles(good, good[:n], 1); err == nil {
			t.Errorf("%d of %d bytes are taken for a document", n, len(good))
		}
	}
}
