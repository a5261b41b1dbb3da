package load

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"
)

// cpuMask is a set of processors in the kernel's format.
type cpuMask [maxCPU / 64]uint64

func newCPUMask(cpus []int) (m cpuMask) {
	for _, c := range cpus {
		m[c/64] |= 1 << (c % 64)
	}
	return m
}

func (m *cpuMask) countCPUs() int {
	n := 0
	for _, word := range m {
		n += bits.OnesCount64(word)
	}
	return n
}

func (m *cpuMask) isSubset(o *cpuMask) bool {
	for i, word := range m {
		if word&^o[i] != 0 {
			return false
		}
	}
	return true
}

// callAffinity gets or sets the processors of a thread. Thread 0 is the calling thread.
func callAffinity(call uintptr, tid int, m *cpuMask) error {
	if _, _, errno := syscall.RawSyscall(call, uintptr(tid), unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m))); errno != 0 {
		return errno
	}
	return nil
}

// confinement restricts the threads of this process to some processors until release is called. It leaves
// out threads pinned to other processors. Only one may exist at a time, because release would undo the
// other.
type confinement struct {
	to       cpuMask         // processors to restrict the threads to
	original map[int]cpuMask // earlier processors of each restricted thread, by thread id
	widest   cpuMask
	others   map[int]bool // ids of threads to leave alone: pinned elsewhere, ended or restored
}

// repeatUntilStable calls visit with the ids of all threads until several calls in a row have changed
// nothing. One call is not enough: a new thread inherits its processors early, but the system lists it
// late.
func repeatUntilStable(visit func(tids []int) (changed bool)) {
	const stableCalls, pause = 4, time.Millisecond
	for n := 0; n < stableCalls; n++ {
		if n > 0 {
			time.Sleep(pause)
		}
		if visit(threadIDs()) {
			n = -1
		}
	}
}

func confineThreads(cpus []int) *confinement {
	c := &confinement{to: newCPUMask(cpus), original: map[int]cpuMask{}, others: map[int]bool{}}
	first := true
	repeatUntilStable(func(tids []int) (changed bool) {
		for _, tid := range tids {
			if _, seen := c.original[tid]; seen || c.others[tid] {
				continue
			}
			changed = true
			var current cpuMask
			hasEnded := callAffinity(syscall.SYS_SCHED_GETAFFINITY, tid, &current) != nil
			pinnedElsewhere := !c.to.isSubset(&current) && !current.isSubset(&c.to)
			if hasEnded || pinnedElsewhere {
				c.others[tid] = true
				continue
			}
			isChild := !first && current == c.to // a restricted thread has created this one
			if isChild && c.widest.countCPUs() > current.countCPUs() {
				current = c.widest
			}
			if c.original[tid] = current; current.countCPUs() > c.widest.countCPUs() {
				c.widest = current
			}
			if !current.isSubset(&c.to) {
				_ = callAffinity(syscall.SYS_SCHED_SETAFFINITY, tid, &c.to) // countAllowed shows an error
			}
		}
		first = false
		return changed
	})
	return c
}

// release restores the processors of all threads. Threads created in the meantime get the largest original
// set.
func (c *confinement) release() {
	repeatUntilStable(func(tids []int) (changed bool) {
		for _, tid := range tids {
			var current cpuMask
			if c.others[tid] || callAffinity(syscall.SYS_SCHED_GETAFFINITY, tid, &current) != nil || !current.isSubset(&c.to) {
				continue
			}
			before, seen := c.original[tid]
			if !seen {
				before = c.widest
			}
			c.others[tid] = true
			if !before.isSubset(&current) {
				changed = true
				_ = callAffinity(syscall.SYS_SCHED_SETAFFINITY, tid, &before)
			}
		}
		return changed
	})
}

// countAllowed returns the number of processors that the threads can use, or 0 if unknown.
func (c *confinement) countAllowed() int {
	var all cpuMask
	for _, tid := range threadIDs() {
		var current cpuMask
		if !c.others[tid] && callAffinity(syscall.SYS_SCHED_GETAFFINITY, tid, &current) == nil {
			for i, word := range current {
				all[i] |= word
			}
		}
	}
	return all.countCPUs()
}
