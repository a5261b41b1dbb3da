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

// own returns the processors that any thread of this process may use.
func own() (cpus []int) {
	var all cpuMask
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

// masks returns the processors of each thread, by thread id.
func masks() map[int]cpuMask {
	all := map[int]cpuMask{}
	for _, tid := range threadIDs() {
		var has cpuMask
		if callAffinity(syscall.SYS_SCHED_GETAFFINITY, tid, &has) == nil {
			all[tid] = has
		}
	}
	return all
}

// noneLeft requires that every thread has the processors that it had before. A thread created since
// must have all processors, or tied.
func noneLeft(t *testing.T, before map[int]cpuMask, all, tied []int) {
	t.Helper()
	for tid, has := range masks() {
		if had, known := before[tid]; known && has != had || !known && has != newCPUMask(all) && has != newCPUMask(tied) {
			t.Errorf("thread %d is left with %d processors of %d", tid, has.countCPUs(), len(all))
		}
	}
}

// beyond returns the number of threads that can run on processors outside cpus. It ignores threads
// that were already restricted before.
func beyond(before map[int]cpuMask, all, cpus []int) (n int) {
	to := newCPUMask(cpus)
	for tid, has := range masks() {
		if had, known := before[tid]; (!known || had == newCPUMask(all)) && !has.isSubset(&to) {
			n++
		}
	}
	return n
}

// several returns the processors of this process. It skips the test if there is only one.
func several(t *testing.T) []int {
	t.Helper()
	cpus := own()
	if len(cpus) < 2 {
		t.Skip("a single processor")
	}
	return cpus
}

// During a phase of the portable engine the complete process uses only the processors of
// Options.CPUs, even on threads that are created meanwhile. After the phase all threads have their
// original processors, however the phase ended.
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

// Without Options.CPUs, or with processors that it cannot have, the engine may use all processors,
// and Result.Threads says so.
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

// Overlapping confinements leave nothing behind. They do not change threads that other code has
// pinned elsewhere, and an engine that another confinement has released reports that.
func TestConfinementsOverlap(t *testing.T) {
	all := several(t)
	first, second := all[:1], all[1:2]
	tied, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // for good
		tied <- pinThread(second)
		<-done
		var has, want cpuMask
		err := callAffinity(syscall.SYS_SCHED_GETAFFINITY, 0, &has)
		if want = newCPUMask(second); err == nil && has != want {
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
