package server

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/machine"
)

// cores are the processors of the load generator and of the server. The load
// generator has a quarter of all processors, rounded up, and the server has the
// others; both share a single one. The load generator has the first processors,
// because these tend to get the interrupts.
type cores struct {
	client, server []int // numbers of the processors; nil if they cannot be chosen on this system
	clients        int   // number of processors of the load generator
	servers        int   // number of processors of the server
}

// divideCores divides the processors of this process.
func divideCores() cores {
	return splitCPUs(parseList(machine.Allowed(os.Getpid())), runtime.NumCPU())
}

// splitCPUs divides the allowed processors. If allowed is nil, because the system does not report them,
// the server may use all known processors, because it cannot be limited to some of them.
func splitCPUs(allowed []int, known int) cores {
	n := len(allowed)
	if n == 0 {
		n = max(1, known)
		return cores{clients: quarterUp(n), servers: n}
	}
	if n == 1 {
		return cores{client: allowed, server: allowed, clients: 1, servers: 1}
	}
	clients := quarterUp(n)
	return cores{client: allowed[:clients:clients], server: allowed[clients:], clients: clients, servers: n - clients}
}

// quarterUp returns a quarter of n, rounded up.
func quarterUp(n int) int { return (n + 3) / 4 }

// parseList parses a list of processors in the notation of the kernel: 0-3,8. It returns nil if the
// list is invalid.
func parseList(s string) []int {
	const maxProcessors = 8192
	var cpus []int
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(low)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 0 || to < from || to >= maxProcessors {
			return nil
		}
		for c := from; c <= to; c++ {
			cpus = append(cpus, c)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus)
}
