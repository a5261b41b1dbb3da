// Package workload is what app users is asked under a lab, and what it should
// answer, over each protocol that a contender speaks: HTTP with JSON, gRPC, or
// Connect with protocol buffers or JSON. What is asked is the same; how it is said
// is a matter of dialect. Requests are sent by one load generator for all, or by
// the client that a contender brings.
//
// Each request is a call of package contender/rpc. Its canonical form is the one
// over HTTP with JSON, which the reference reads; contenders are sent that or a
// translation.
package workload

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// App is the service that package apps/users describes.
func App() server.App {
	return server.App{
		Name:      users.Name,
		Ops:       ops(),
		N:         storeUsers,
		Counts:    func(string) tare.Counts { return tare.Counts{One: "user", In: "the store"} },
		Requests:  requests,
		Repeats:   repeats(),
		Per:       per,
		Parts:     parts,
		Most:      most,
		Probes:    probes,
		Questions: questions,
		Answers:   answers,
		Changes:   changes,
		Same:      same,
		Refuses:   refuses,
		Sound:     sound,
		Words:     words(),
		Settings:  settings,
		Holds:     holds,
		Dialect:   dialect,
		Caller:    caller(),
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
	opSteady  = "steady"        // as a service is asked whose number of users stays
	opRead95  = "read95"        // gets, and now and then an update
)

func ops() []string {
	return []string{opCreate, opGet, opUpdate, opDelete, opList, opPair, opSeedMix, opSteady, opRead95}
}

// repeats are those that ask for the same more than once in a turn of the pool.
func repeats() []string { return []string{opDelete, opPair, opSeedMix, opSteady, opRead95} }

// changes reports whether what op asks for leaves other users in the store.
func changes(op string) bool { return op != opGet && op != opList }

func per(op string) int64 {
	if op == opPair {
		return 2
	}
	return 1
}

// parts are the operations that op is made of, and how often it does each.
func parts(op string) []tare.Part {
	if op == opPair {
		return []tare.Part{{Op: opCreate, Times: 1}, {Op: opDelete, Times: 1}}
	}
	var list []tare.Part
	for _, s := range mixes()[op] {
		list = append(list, tare.Part{Op: s.op, Times: s.percent / 100})
	}
	return list
}

// share is one operation of a mix.
type share struct {
	op      string
	percent float64
}

// mixes are what a service is asked for, out of a hundred requests.
func mixes() map[string][]share {
	return map[string][]share{
		opSeedMix: {{opCreate, 25}, {opGet, 25}, {opUpdate, 25}, {opList, 25}},
		opSteady:  {{opCreate, 10}, {opGet, 55}, {opUpdate, 15}, {opList, 10}, {opDelete, 10}},
		opRead95:  {{opGet, 95}, {opUpdate, 5}},
	}
}

// deletes reports whether op does.
func deletes(op string) bool {
	return slices.ContainsFunc(parts(op), func(p tare.Part) bool { return p.Op == opDelete })
}
