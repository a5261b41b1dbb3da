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

// Limits bounds the orders that an agent accepts.
type Limits struct {
	Commands   bool          // orders may run their own code: commands and URLs of studies, benchmarks, types
	Targets    []string      // host:port patterns that may be loaded in addition to loopback
	Rate       float64       // peak requests per second of its share; 0 means no limit
	Duration   time.Duration // longest order; 0 means no limit
	KeepMemory int64         // bytes of memory that must stay available; 0 means no limit
	KeepDisk   int64         // bytes of disk that must stay free; 0 means no limit
}

// Free holds the free memory and disk of a machine in bytes. Negative means unknown.
type Free struct{ Memory, Disk int64 }

// canTarget reports whether addr may be loaded: loopback always, other addresses by l.Targets.
func (l Limits) canTarget(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" {
		return true
	}
	for _, pattern := range l.Targets {
		if ok, err := path.Match(pattern, addr); err == nil && ok {
			return true
		}
		if pattern == host {
			return true
		}
	}
	return false
}

// checkFree returns an error if less memory or disk than the limits would be free after writing
// more bytes.
func (l Limits) checkFree(f Free, more int64) error {
	if f.Memory >= 0 && f.Memory < l.KeepMemory {
		return fmt.Errorf("%d MB of memory are available; --keep-memory keeps %d MB", f.Memory/1e6, l.KeepMemory/1e6)
	}
	if f.Disk >= 0 && f.Disk-more < l.KeepDisk {
		return fmt.Errorf("%d MB of disk would be free; --keep-disk keeps %d MB", max(0, f.Disk-more)/1e6, l.KeepDisk/1e6)
	}
	return nil
}

// CheckLoad returns an error if a load of addr for a time, warm-up included, is beyond the
// limits. profile is nil in a closed loop.
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

// Watch ends work that takes longer than most, unless most is 0, or leaves less free than
// the limits keep. It reads what is free once in every, and returns when ctx ends.
func (l Limits) Watch(ctx context.Context, every, most time.Duration, free func() Free, end context.CancelCauseFunc) {
	var late <-chan time.Time
	if most > 0 {
		late = time.After(most)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-late:
			end(fmt.Errorf("it takes longer than --most-duration %v allows", most))
			return
		case <-tick.C:
			if err := l.checkFree(free(), 0); err != nil {
				end(err)
				return
			}
		}
	}
}

// readFree returns the free memory and disk, or -1 for both if no limit needs them.
func (a *Agent) readFree() Free {
	if a.Free == nil || a.Limits.KeepMemory == 0 && a.Limits.KeepDisk == 0 {
		return Free{-1, -1}
	}
	return a.Free()
}
