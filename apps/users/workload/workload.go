// Package workload makes the requests that a study, a comparison of servers (contenders), sends to
// servers of app users, and the expected responses. The calls are the same for all contenders, but each
// contender gets them in a protocol that it supports: HTTP with JSON, gRPC, or Connect with protocol
// buffers or JSON. The load generator sends them, or the contender's own client.
//
// Each request is a call of package contender/rpc. Its canonical form is the request over HTTP with
// JSON, from which the reference computes the response. A request encoding translates canonical requests
// and responses to another protocol and back.
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
	opPair    = "create+delete" // a create and a delete, counted as one operation
	opSeedMix = "seed-mix"      // creates, gets, updates and lists, equally often
	opSteady  = "steady"        // a mix with as many creates as deletes, so that the number of users is constant
	opRead95  = "read95"        // 95 % gets and 5 % updates
)

// allOps returns the operations that a workload can name.
func allOps() []string {
	return []string{opCreate, opGet, opUpdate, opDelete, opList, opPair, opSeedMix, opSteady, opRead95}
}

// repeatingOps returns the ops whose pool may contain equal requests.
func repeatingOps() []string { return []string{opDelete, opPair, opSeedMix, opSteady, opRead95} }

// changesUsers reports whether op changes the users of the store.
func changesUsers(op string) bool { return op != opGet && op != opList }

// requestsPerOp returns the number of requests of one operation.
func requestsPerOp(op string) int64 {
	if op == opPair {
		return 2
	}
	return 1
}

// opParts returns the parts of an op that consists of several operations, and how often each occurs in
// one operation. It returns nil for other ops.
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

// opShare is the share of one operation in a mix.
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

// deletesUsers reports whether op is a mix or a pair with deletes.
func deletesUsers(op string) bool {
	return slices.ContainsFunc(opParts(op), func(p tare.Part) bool { return p.Op == opDelete })
}
