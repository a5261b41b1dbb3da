package server

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/machine"
)

// cores are the processors of both sides. The load generator has a quarter of
// those there are, rounded up, and the server the others; a single one is
// shared. The load generator's are the first ones: interrupts tend to come in
// there.
type cores struct {
	client, server []int // nil if they cannot be chosen on this system
	clients        int   // how many the load generator may use
	servers        int
}

// divideCores divides the processors of this process.
func divideCores() cores {
	return shareOf(parseList(machine.Allowed(os.Getpid())), runtime.NumCPU())
}

// shareOf divides the allowed processors, or known processors if they are unknown.
func shareOf(allowed []int, known int) cores {
	n := len(allowed)
	if n == 0 {
		n = max(1, known)
		return cores{clients: quarterUp(n), servers: n}
	}
	if n == 1 {
		return cores{client: allowed, server: allowed, clients: 1, servers: 1}
	}
	at := quarterUp(n)
	return cores{client: allowed[:at:at], server: allowed[at:], clients: at, servers: n - at}
}

func quarterUp(n int) int { return (n + 3) / 4 }

// parseList reads processors as the kernel lists them: 0-3,8. It returns nil if the list is
// invalid.
func parseList(s string) []int {
	const most = 8192
	var cpus []int
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(low)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 0 || to < from || to >= most {
			return nil
		}
		for c := from; c <= to; c++ {
			cpus = append(cpus, c)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus)
}
