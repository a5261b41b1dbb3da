package load

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"
)

// mask is a set of processors as the kernel has it.
type mask [maxCPU / 64]uint64

func maskOf(cpus []int) (m mask) {
	for _, c := range cpus {
		m[c/64] |= 1 << (c % 64)
	}
	return m
}

func (m *mask) count() int {
	n := 0
	for _, word := range m {
		n += bits.OnesCount64(word)
	}
	return n
}

// within reports whether all processors of m are among those of o.
func (m *mask) within(o *mask) bool {
	for i, word := range m {
		if word&^o[i] != 0 {
			return false
		}
	}
	return true
}

// affinity gets or sets the processors of a thread; 0: the calling one.
func affinity(call uintptr, tid int, m *mask) error {
	if _, _, errno := syscall.RawSyscall(call, uintptr(tid), unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m))); errno != 0 {
		return errno
	}
	return nil
}

// confinement keeps every thread of this process on some processors, but for those
// that somebody has tied to others. Several at once share what the kernel holds,
// and nothing else: who ends sets free what it confined, whatever the others want,
// and allowed tells them.
type confinement struct {
	to     mask
	before map[int]mask // what threads could run on
	usual  mask         // the most of those
	others map[int]bool // threads that are let be
}

// untilQuiet looks at the threads until several looks in a row, some time apart,
// changed none. A new thread has the processors its maker had when it began to make
// it and is listed only when it is made, so that one quiet look proves nothing.
func untilQuiet(look func(tids []int) (changed bool)) {
	const quiet, apart = 4, time.Millisecond
	for n := 0; n < quiet; n++ {
		if n > 0 {
			time.Sleep(apart)
		}
		if look(threadIDs()) {
			n = -1
		}
	}
}

// confine begins one.
func confine(cpus []int) *confinement {
	c := &confinement{to: maskOf(cpus), before: map[int]mask{}, others: map[int]bool{}}
	first := true
	untilQuiet(func(tids []int) (changed bool) {
		for _, tid := range tids {
			if _, seen := c.before[tid]; seen || c.others[tid] {
				continue
			}
			changed = true
			var has mask
			if affinity(syscall.SYS_SCHED_GETAFFINITY, tid, &has) != nil || !c.to.within(&has) && !has.within(&c.to) {
				c.others[tid] = true // or it has ended
				continue
			}
			if !first && has == c.to && c.usual.count() > has.count() {
				has = c.usual // it was made since, by one that was confined already
			}
			if c.before[tid] = has; has.count() > c.usual.count() {
				c.usual = has
			}
			if !has.within(&c.to) {
				_ = affinity(syscall.SYS_SCHED_SETAFFINITY, tid, &c.to) // allowed tells
			}
		}
		first = false
		return changed
	})
	return c
}

// end lets threads run where they could before, and those that have been made
// meanwhile where the others can.
func (c *confinement) end() {
	untilQuiet(func(tids []int) (changed bool) {
		for _, tid := range tids {
			var has mask
			if c.others[tid] || affinity(syscall.SYS_SCHED_GETAFFINITY, tid, &has) != nil || !has.within(&c.to) {
				continue
			}
			before, seen := c.before[tid]
			if !seen {
				before = c.usual
			}
			c.others[tid] = true // it is done with
			if !before.within(&has) {
				changed = true
				_ = affinity(syscall.SYS_SCHED_SETAFFINITY, tid, &before) // what could be narrowed can be widened
			}
		}
		return changed
	})
}

// allowed is how many processors the threads can run on, all together; zero: it
// cannot be told.
func (c *confinement) allowed() int {
	var all mask
	for _, tid := range threadIDs() {
		var has mask
		if !c.others[tid] && affinity(syscall.SYS_SCHED_GETAFFINITY, tid, &has) == nil {
			for i, word := range has {
				all[i] |= word
			}
		}
	}
	return all.count()
}
