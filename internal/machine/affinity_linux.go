package machine

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// cpuMask is a set of processors as the kernel takes it; 8192 is the most it
// can be built for.
type cpuMask [8192 / 64]uint64

func (m *cpuMask) cpuList() []int {
	var cpus []int
	for i := range len(m) * 64 {
		if m[i/64]&(1<<(i%64)) != 0 {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// startPinned runs start on a separate thread with the given processors, because a child inherits
// those of the thread that forks it.
func startPinned(cpus []int, start func() error) error {
	var want cpuMask
	for _, c := range cpus {
		if c < 0 || c >= len(want)*64 {
			return fmt.Errorf("no processor %d", c)
		}
		want[c/64] |= 1 << (c % 64)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		var before cpuMask
		err := affinityCall(syscall.SYS_SCHED_GETAFFINITY, &before)
		if err == nil {
			err = affinityCall(syscall.SYS_SCHED_SETAFFINITY, &want)
		}
		if err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("processors %s: %w", formatRanges(want.cpuList()), err)
			return
		}
		err = start()
		if affinityCall(syscall.SYS_SCHED_SETAFFINITY, &before) == nil {
			runtime.UnlockOSThread()
		} // else the thread ends with this goroutine, and nothing else runs on it
		done <- err
	}()
	return <-done
}

// allowedCPUs lists the processors the calling thread may use.
func allowedCPUs() ([]int, error) {
	var m cpuMask
	if err := affinityCall(syscall.SYS_SCHED_GETAFFINITY, &m); err != nil {
		return nil, err
	}
	return m.cpuList(), nil
}

// affinityCall gets or sets the processors of the calling thread.
func affinityCall(call uintptr, m *cpuMask) error {
	_, _, errno := syscall.RawSyscall(call, 0, unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m)))
	if errno != 0 {
		return errno
	}
	return nil
}

// formatRanges formats processors as ranges: 0-3,8.
func formatRanges(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); i++ {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, cpus[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", cpus[j])
		}
		i = j
	}
	return b.String()
}
