// Package workload defines the requests for app users under a lab, and the correct responses, over
// each protocol that a contender speaks: HTTP with JSON, gRPC, or Connect with protocol buffers or
// JSON. The calls are the same; their encoding differs. One load generator sends requests for all,
// or the client that a contender brings.
//
// Each request is a call of package contender/rpc. Its canonical form is the one over HTTP with
// JSON, which the reference reads; contenders get that or a translation.
package workload

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// App returns the service of package apps/users.
func App() server.App {
	return server.App{
		Name:      users.Name,
		Ops:       allOps(),
		N:         storeUsers,
		Counts:    func(string) tare.Counts { return tare.Counts{One: "user", In: "the store"} },
		Requests:  newRequests,
		Repeats:   repeatingOps(),
		Per:       requestsPerOp,
		Parts:     opParts,
		Most:      maxRequests,
		Probes:    newProbes,
		Questions: newQuestions,
		Answers:   referenceResponses,
		Changes:   changesUsers,
		Same:      isSameBody,
		Refuses:   whyNotRefusal,
		Sound:     whyUnsound,
		Words:     settingNames(),
		Settings:  applySettings,
		Holds:     storeMemory,
		Dialect:   newDialect,
		Caller:    newCaller(),
		Null:      true,
	}
}

// Ops.
const (
	opCreate  = rpc.OpCreate
	opGet     = rpc.OpGet
	opUpdate  = rpc.OpUpdate
	opDelete  = rpc.OpDelete
	opList    = rpc.OpList
	opPair    = "create+delete" // one operation is both
	opSeedMix = "seed-mix"      // as many creates as gets, updates and lists
	opSteady  = "steady"        // load of a service whose number of users is constant
	opRead95  = "read95"        // gets, and now and then an update
)

func allOps() []string {
	return []string{opCreate, opGet, opUpdate, opDelete, opList, opPair, opSeedMix, opSteady, opRead95}
}

// repeatingOps returns the ops that request the same more than once in a turn of the pool.
func repeatingOps() []string { return []string{opDelete, opPair, opSeedMix, opSteady, opRead95} }

// changesUsers reports whether op changes the users of the store.
func changesUsers(op string) bool { return op != opGet && op != opList }

func requestsPerOp(op string) int64 {
	if op == opPair {
		return 2
	}
	return 1
}

// opParts returns the operations of op, and how often it does each.
func opParts(op string) []tare.Part {
	if op == opPair {
		return []tare.Part{{Op: opCreate, Times: 1}, {Op: opDelete, Times: 1}}
	}
	var list []tare.Part
	for _, s := range allMixes()[op] {
		list = append(list, tare.Part{Op: s.op, Times: s.percent / 100})
	}
	return list
}

// opShare is one operation of a mix.
type opShare struct {
	op      string
	percent float64
}

// allMixes returns the operations of each mix, out of a hundred requests.
func allMixes() map[string][]opShare {
	return map[string][]opShare{
		opSeedMix: {{opCreate, 25}, {opGet, 25}, {opUpdate, 25}, {opList, 25}},
		opSteady:  {{opCreate, 10}, {opGet, 55}, {opUpdate, 15}, {opList, 10}, {opDelete, 10}},
		opRead95:  {{opGet, 95}, {opUpdate, 5}},
	}
}

// deletesUsers reports whether op deletes users.
func deletesUsers(op string) bool {
	return slices.ContainsFunc(opParts(op), func(p tare.Part) bool { return p.Op == opDelete })
}
