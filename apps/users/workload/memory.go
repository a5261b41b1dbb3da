package workload

import (
	"cmp"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/wire"
)

// userMemory is the memory that a server needs for each user of a store in memory, in bytes. It was
// measured with a million users: 196 MB of live heap, and a peak of 277 MB of memory under load.
const userMemory = 280

// storeMemory returns the memory that a server of w needs for its users, in bytes. It returns 0 for a
// store in a database.
func storeMemory(w wire.Workload) int64 {
	switch cmp.Or(w.Set[serving.SetStore], users.MemoryStore) {
	case users.MemoryStore, users.LinearStore:
		return int64(w.N) * userMemory
	}
	return 0
}
