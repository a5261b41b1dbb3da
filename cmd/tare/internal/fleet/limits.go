package fleet

import (
	"context"
	"fmt"
	"net"
	"path"
	"time"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load/pace"
)

// Limits bounds the orders (studies and loads) that an agent accepts.
type Limits struct {
	Commands   bool          // orders may bring code, such as commands and benchmarks
	Targets    []string      // hosts or patterns of host:port; loopback is always permitted
	Rate       float64       // requests per second of the agent's share; 0 means no limit
	Duration   time.Duration // of an order; 0 means no limit
	KeepMemory int64         // bytes that must stay available; 0 means no limit
	KeepDisk   int64         // bytes that must stay free; 0 means no limit
}

// Free is in bytes. A negative value means unknown.
type Free struct{ Memory, Disk int64 }

func (l Limits) canTarget(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" {
		return true
	}
	for _, pattern := range l.Targets {
		if ok, err := path.Match(pattern, addr); pattern == host || err == nil && ok {
			return true
		}
	}
	return false
}

// checkFree returns an error if less memory than l.KeepMemory is free. It does the same for l.KeepDisk, after
// size bytes were written.
func (l Limits) checkFree(f Free, size int64) error {
	if f.Memory >= 0 && f.Memory < l.KeepMemory {
		return fmt.Errorf("%d MB of memory are available; --keep-memory keeps %d MB", f.Memory/1e6, l.KeepMemory/1e6)
	}
	if f.Disk >= 0 && f.Disk-size < l.KeepDisk {
		return fmt.Errorf("%d MB of disk would be free; --keep-disk keeps %d MB", max(0, f.Disk-size)/1e6, l.KeepDisk/1e6)
	}
	return nil
}

// CheckLoad checks a load of addr. duration includes the warm-up; profile is nil for a closed loop.
func (l Limits) CheckLoad(addr string, duration time.Duration, profile pace.Profile) error {
	switch {
	case l.Duration > 0 && duration > l.Duration:
		return fmt.Errorf("%v is longer than --most-duration %v allows", duration, l.Duration)
	case !l.canTarget(addr):
		return fmt.Errorf("%s is not among the targets that are allowed (--allow-target)", format.Line(addr, 80))
	case l.Rate <= 0:
		return nil
	case profile == nil:
		return fmt.Errorf("a closed loop has no rate, and --most-rate allows %g/s", l.Rate)
	case pace.Peak(profile) > l.Rate:
		return fmt.Errorf("%.0f requests a second are more than --most-rate %g/s allows", pace.Peak(profile), l.Rate)
	}
	return nil
}

// Watch watches an order until ctx ends. It calls end if the order exceeds maxDuration (0 means no limit) or
// free is too little.
func (l Limits) Watch(ctx context.Context, interval, maxDuration time.Duration, free func() Free, end context.CancelCauseFunc) {
	var timeout <-chan time.Time
	if maxDuration > 0 {
		timeout = time.After(maxDuration)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timeout:
			end(fmt.Errorf("it takes longer than --most-duration %v allows", maxDuration))
			return
		case <-tick.C:
			if err := l.checkFree(free(), 0); err != nil {
				end(err)
				return
			}
		}
	}
}

func (a *Agent) readFree() Free {
	if a.Free == nil || a.Limits.KeepMemory == 0 && a.Limits.KeepDisk == 0 {
		return Free{-1, -1}
	}
	return a.Free()
}
