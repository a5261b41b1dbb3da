//go:build unix

package trial

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/machine"
)

// BenchmarkToken is the price of handing the token over and getting it back:
// a slice of no work, over the real wire. cpu-ns/op is ours alone.
func BenchmarkToken(b *testing.B) {
	s := greeted(b, "good", nil)
	ctx := b.Context()
	q := wire.Request{On: "w", Lead: 10, Until: "ops", Ops: 100, CapNS: 1e9}
	before := usage()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Slice(ctx, q, time.Millisecond); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(usage()-before)/float64(b.N), "cpu-ns/op")
}

// BenchmarkTrial is the price of a process: start, hello, bye, nothing left.
func BenchmarkTrial(b *testing.B) {
	for b.Loop() {
		p, err := Start(b.Context(), Spec{Path: os.Args[0], Env: []string{quick, envPart + "=good"}})
		if err != nil {
			b.Fatal(err)
		}
		s := &Session{Conn: p}
		if _, err := s.Hello(b.Context(), "", "1"); err != nil {
			b.Fatal(err)
		}
		if e := s.Close(context.Background()); e.KilledGroup {
			b.Fatalf("%+v", e)
		}
	}
}

// BenchmarkSweep is a look through all processes for those with a tag.
func BenchmarkSweep(b *testing.B) {
	for b.Loop() {
		findTagged([]string{EnvRun + "=nobody's"})
	}
}

// BenchmarkInspect is what watching one contender costs ten times a second,
// with a control group and without.
func BenchmarkInspect(b *testing.B) {
	p := greeted(b, "good", nil).Conn.(*Process)
	b.Run("group", func(b *testing.B) {
		for b.Loop() {
			p.residentBytes()
		}
	})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			for _, pid := range listTree(p.pid) {
				machine.Resident(pid)
			}
		}
	})
}

// usage is the CPU time this process has used.
func usage() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
