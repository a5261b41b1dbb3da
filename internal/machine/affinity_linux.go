package machine

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// maxCPUs is the largest number of processors that a kernel can be configured for.
const maxCPUs = 8192

// cpuMask has a bit for each processor, as in the kernel.
type cpuMask [maxCPUs / 64]uint64

func (m *cpuMask) cpuList() []int {
	var cpus []int
	for i := range maxCPUs {
		if m[i/64]&(1<<(i%64)) != 0 {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// startPinned calls start on a thread that may use only cpus. A child process inherits the processors
// of the thread that forks it.
func startPinned(cpus []int, start func() error) error {
	var want cpuMask
	for _, c := range cpus {
		if c < 0 || c >= maxCPUs {
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
		} // otherwise the thread stays locked, so it ends with this goroutine
		done <- err
	}()
	return <-done
}

// allowedCPUs returns the processors that the calling thread may use.
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
