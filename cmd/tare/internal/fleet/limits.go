package fleet

import (
	"context"
	"fmt"
	"net"
	"path"
	"time"
)

// Limits are what an agent refuses to go beyond.
type Limits struct {
	Commands   bool          // orders may run code of their own: commands and URLs of studies, benchmarks, types
	Targets    []string      // host:port patterns that may be loaded besides loopback's
	Rate       float64       // requests per second of its share, at most at any time; zero: no limit
	Duration   time.Duration // of an order, at most; zero: no limit
	KeepMemory int64         // bytes of memory that stay available; zero: any
	KeepDisk   int64         // bytes of disk that stay free; zero: any
}

// Free is how much of a machine can still be used, in bytes. Negative: not known.
type Free struct{ Memory, Disk int64 }

// allows reports whether an address may be loaded: loopback's may, and what the
// agent was told.
func (l Limits) allows(addr string) bool {
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

// keeps is an error if less would be free than the agent keeps once so many bytes
// more were on disk.
func (l Limits) keeps(f Free, more int64) error {
	if f.Memory >= 0 && f.Memory < l.KeepMemory {
		return fmt.Errorf("%d MB of memory are available; this agent keeps %d MB (--keep-memory)", f.Memory/1e6, l.KeepMemory/1e6)
	}
	if f.Disk >= 0 && f.Disk-more < l.KeepDisk {
		return fmt.Errorf("%d MB of disk would be free; this agent keeps %d MB (--keep-disk)", max(0, f.Disk-more)/1e6, l.KeepDisk/1e6)
	}
	return nil
}

// watch ends an order that takes longer than so long, or leaves less free than the
// agent keeps. It returns when ctx ends.
func (a *Agent) watch(ctx context.Context, most time.Duration, end context.CancelCauseFunc) {
	var late <-chan time.Time
	if most > 0 {
		late = time.After(most)
	}
	tick := time.NewTicker(a.times.hello)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-late:
			end(fmt.Errorf("the order takes longer than this agent works on one (--most-duration %v)", most))
			return
		case <-tick.C:
			if err := a.Limits.keeps(a.free(), 0); err != nil {
				end(err)
				return
			}
		}
	}
}

// free is what can be used of the machine, as far as a limit asks for it.
func (a *Agent) free() Free {
	if a.Free == nil || a.Limits.KeepMemory == 0 && a.Limits.KeepDisk == 0 {
		return Free{-1, -1}
	}
	return a.Free()
}
