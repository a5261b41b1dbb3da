package workload

import (
	"cmp"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/wire"
)

// userMemory bounds the memory of a process for each user of a store in memory, in bytes: with a
// million users programs had 196 MB of live heap, and 277 MB of memory at their peak under load.
const userMemory = 280

// storeMemory returns the memory that a server of w needs for its users, in bytes. Databases store
// them elsewhere.
func storeMemory(w wire.Workload) int64 {
	switch cmp.Or(w.Set[serving.SetStore], users.MemoryStore) {
	case users.MemoryStore, users.LinearStore:
		return int64(w.N) * userMemory
	}
	return 0
}
