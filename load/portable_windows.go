package load

import (
	"net"
	"syscall"
	"time"
)

func processCPU() time.Duration {
	p, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(p, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	// A Filetime counts 100 ns.
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return 100 * time.Nanosecond * time.Duration(ticks(kernel)+ticks(user))
}

// probe does nothing: this system cannot check a connection without waiting.
type probe struct{}

func newProbe(*net.TCPConn) (*probe, error) { return &probe{}, nil }

func (*probe) pending() (n int, closed bool) { return 0, false }
