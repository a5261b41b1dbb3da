package server

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/machine"
)

// cores are the processors of the load generator, a quarter of all, and of the server. A single
// processor is shared. The first ones tend to get the interrupts, so the load generator has these.
type cores struct {
	client, server []int // nil if the system cannot limit them
	clients        int   // number of processors of the load generator
	servers        int   // number of processors of the server
}

func divideCores() cores {
	return splitCPUs(parseList(machine.Allowed(os.Getpid())), runtime.NumCPU())
}

// splitCPUs divides the allowed processors. If allowed is nil, because the system does not report
// them, the server may use all known ones.
func splitCPUs(cpus []int, known int) cores {
	n := len(cpus)
	if n == 0 {
		n = max(1, known)
		return cores{clients: quarterUp(n), servers: n}
	}
	if n == 1 {
		return cores{client: cpus, server: cpus, clients: 1, servers: 1}
	}
	clients := quarterUp(n)
	return cores{client: cpus[:clients:clients], server: cpus[clients:], clients: clients, servers: n - clients}
}

func quarterUp(n int) int { return (n + 3) / 4 }

// parseList parses a list of processors as the kernel prints it: 0-3,8. It returns nil if the list
// is invalid.
func parseList(s string) []int {
	const maxProcessors = 8192
	var cpus []int
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(high)
		}
		if err != nil || first < 0 || last < first || last >= maxProcessors {
			return nil
		}
		for c := first; c <= last; c++ {
			cpus = append(cpus, c)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus)
}
