// Package workload makes requests to servers of app users, for a comparison, and the expected responses. Each
// server gets the calls in a protocol that it supports: HTTP with JSON, gRPC, or Connect. The load generator
// sends them, or the server's own client.
//
// A request is a call of package contender/rpc. Its canonical form is HTTP with JSON, for which the reference
// computes the response. Encodings translate to other protocols and back.
package workload

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// App returns the description of app users for studies.
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
		Sound:     whyImpossible,
		Words:     settingNames(),
		Settings:  applySettings,
		Holds:     storeMemory,
		Dialect:   newDialect,
		Caller:    newCaller(),
		Null:      true,
	}
}

// Operations that a workload can name.
const (
	opCreate  = rpc.OpCreate
	opGet     = rpc.OpGet
	opUpdate  = rpc.OpUpdate
	opDelete  = rpc.OpDelete
	opList    = rpc.OpList
	opPair    = "create+delete" // a create and a delete as one operation
	opSeedMix = "seed-mix"      // creates, gets, updates and lists, equally often
	opSteady  = "steady"        // mix with as many creates as deletes
	opRead95  = "read95"        // 95 % gets and 5 % updates
)

func allOps() []string {
	return []string{opCreate, opGet, opUpdate, opDelete, opList, opPair, opSeedMix, opSteady, opRead95}
}

// repeatingOps returns the operations whose pool may have equal requests.
func repeatingOps() []string { return []string{opDelete, opPair, opSeedMix, opSteady, opRead95} }

func changesUsers(op string) bool { return op != opGet && op != opList }

func requestsPerOp(op string) int64 {
	if op == opPair {
		return 2
	}
	return 1
}

// opParts returns the parts of an op, and how often each occurs. Other ops have none.
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

type opShare struct {
	op      string
	percent float64
}

func allMixes() map[string][]opShare {
	return map[string][]opShare{
		opSeedMix: {{opCreate, 25}, {opGet, 25}, {opUpdate, 25}, {opList, 25}},
		opSteady:  {{opCreate, 10}, {opGet, 55}, {opUpdate, 15}, {opList, 10}, {opDelete, 10}},
		opRead95:  {{opGet, 95}, {opUpdate, 5}},
	}
}

func deletesUsers(op string) bool {
	return slices.ContainsFunc(opParts(op), func(p tare.Part) bool { return p.Op == opDelete })
}
