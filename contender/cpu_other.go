//go:build !unix && !windows

package contender

// cpuNS returns 0, because the CPU time is unknown on this system. Replies omit 0.
func cpuNS() int64 { return 0 }
