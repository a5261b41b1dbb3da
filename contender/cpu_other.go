//go:build !unix && !windows

package contender

// cpuNS returns 0: the CPU time is unknown on this system, and replies omit 0.
func cpuNS() int64 { return 0 }
