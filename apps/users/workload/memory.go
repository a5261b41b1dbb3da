package workload

import (
	"cmp"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/wire"
)

// userMemory is a server's memory per user, in bytes. Measured with a million users: 196 MB of live heap, a
// peak of 277 MB under load.
const userMemory = 280

// storeMemory returns the memory that a server needs for its users, in bytes. It returns 0 for a database.
func storeMemory(w wire.Workload) int64 {
	switch cmp.Or(w.Set[serving.SetStore], users.MemoryStore) {
	case users.MemoryStore, users.LinearStore:
		return int64(w.N) * userMemory
	}
	return 0
}
