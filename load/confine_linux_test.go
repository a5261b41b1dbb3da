//go:build linux && (amd64 || arm64)

package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/loadtest"
)

// own are the processors of this process, by all its threads.
func own() (cpus []int) {
	var all mask
	for _, has := range masks() {
		for i, word := range has {
			all[i] |= word
		}
	}
	for i := range maxCPU {
		if all[i/64]&(1<<(i%64)) != 0 {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// masks are the processors of each thread.
func masks() map[int]mask {
	all := map[int]mask{}
	for _, tid := range threadIDs() {
		var has mask
		if callAffinity(syscall.SYS_SCHED_GETAFFINITY, tid, &has) == nil {
			all[tid] = has
		}
	}
	return all
}

// noneLeft wants every thread to have what it had before, and one that was made
// since all processors, or those it was tied to.
func noneLeft(t *testing.T, before map[int]mask, all, tied []int) {
	t.Helper()
	for tid, has := range masks() {
		if had, known := before[tid]; known && has != had || !known && has != newMask(all) && has != newMask(tied) {
			t.Errorf("thread %d is left with %d processors of %d", tid, has.countCPUs(), len(all))
		}
	}
}

// beyond is how many threads can run on other processors than these, without those
// that were tied to some before.
func beyond(before map[int]mask, all, cpus []int) (n int) {
	to := newMask(cpus)
	for tid, has := range masks() {
		if had, known := before[tid]; (!known || had == newMask(all)) && !has.isSubset(&to) {
			n++
		}
	}
	return n
}

// several are the processors of this process where it has more than one.
func several(t *testing.T) []int {
	t.Helper()
	cpus := own()
	if len(cpus) < 2 {
		t.Skip("a single processor")
	}
	return cpus
}

// While a leg of the portable engine is driven, all of the process keeps to the
// processors it was given, threads made meanwhile included; afterwards everything
// is as it was, however the leg ended.
func TestPortableKeepsToItsProcessors(t *testing.T) {
	all, procs, before := several(t), runtime.GOMAXPROCS(0), masks()
	for _, w := range []way{{Portable, false, HTTP1}, {Portable, true, HTTP1}, {Portable, false, GRPC}} {
		t.Run(w.String(), func(t *testing.T) {
			s := serve(t, w, loadtest.Plain, loadtest.Options{})
			defer s.Close()
			session := openTo(t, w, s, Options{CPUs: all[1:2], Connections: 8})
			defer session.Close()
			for _, leg := range []Leg{{Ops: 200}, {Duration: 20 * time.Millisecond, Profile: Constant{PerSecond: 2000}}, {Duration: time.Minute}} {
				var free []int
				ctx, cancel := context.WithCancel(context.Background())
				leg.Mark = func(begin bool) {
					if begin {
						for range 3 { // threads of their own
							go func() {
								runtime.LockOSThread()
								time.Sleep(time.Millisecond)
							}()
						}
						if leg.Duration == time.Minute {
							time.AfterFunc(10*time.Millisecond, cancel)
						}
					}
					free = append(free, beyond(before, all, all[1:2]))
				}
				r, err := session.Run(ctx, leg)
				cancel()
				if leg.Duration < time.Minute {
					assert.NoError(t, "run", err)
				} else {
					assert.ErrorIs(t, "run", err, context.Canceled)
				}
				assert.Equal(t, "threads that could run elsewhere", fmt.Sprint(free), "[0 0]")
				assert.Equal(t, "threads", r.Threads, 1)
				assert.Equal(t, "the wait is known", r.Wait >= 0, threadWait(syscall.Gettid()) >= 0)
				noneLeft(t, before, all, all)
				assert.Equal(t, "GOMAXPROCS afterwards", runtime.GOMAXPROCS(0), procs)
			}
		})
	}
}

// Without processors of its own the engine may use all there are, and says so; and
// so it does where it was given some that it cannot have.
func TestPortableSaysWhatItCouldUse(t *testing.T) {
	all, before := several(t), masks()
	for _, cpus := range [][]int{nil, {maxCPU - 1}} {
		s := serve(t, way{engine: Portable}, loadtest.Plain, loadtest.Options{})
		r, err := drive(t, way{engine: Portable}, s, Options{CPUs: cpus}, Leg{Ops: 50})
		assert.NoError(t, "run", err)
		assert.Equal(t, "threads", r.Threads, usableProcessors())
		noneLeft(t, before, all, all)
	}
}

// However confinements overlap, nothing is left of them; threads that somebody has
// tied elsewhere are let be, and an engine that was set free by another says so.
func TestConfinementsOverlap(t *testing.T) {
	all := several(t)
	first, second := all[:1], all[1:2]
	tied, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // for good
		tied <- pinThread(second)
		<-done
		var has, want mask
		err := callAffinity(syscall.SYS_SCHED_GETAFFINITY, 0, &has)
		if want = newMask(second); err == nil && has != want {
			err = errors.New("it was set free")
		}
		tied <- err
	}()
	assert.NoError(t, "tie", <-tied)
	before := masks()
	a := confineThreads(first)
	assert.Equal(t, "a", a.countAllowed(), 1)
	b := confineThreads(first)
	assert.Equal(t, "b", b.countAllowed(), 1)
	c := confineThreads(all)
	assert.Equal(t, "c, with the thread that was tied", c.countAllowed(), 2)
	a.release()
	assert.Equal(t, "b after a", b.countAllowed() > 1, true)
	c.release()
	b.release()
	noneLeft(t, before, all, second)

	outer := confineThreads(all)
	inner := confineThreads(first)
	outer.release()
	assert.Equal(t, "inner after outer", inner.countAllowed(), len(all))
	inner.release()
	close(done)
	assert.NoError(t, "the thread that was tied", <-tied)
	noneLeft(t, before, all, second)
}
