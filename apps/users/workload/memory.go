package workload

import (
	"cmp"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/wire"
)

// userMemory is what a process takes at most for each user of a store in memory,
// in bytes: with a million of them programs had 196 MB of live heap, and held
// 277 MB of memory at their peak when they were asked.
const userMemory = 280

// holds is the memory that a server of w takes for its users. Databases keep
// them elsewhere.
func holds(w wire.Workload) int64 {
	switch cmp.Or(w.Set[serving.SetStore], users.MemoryStore) {
	case users.MemoryStore, users.LinearStore:
		return int64(w.N) * userMemory
	}
	return 0
}
