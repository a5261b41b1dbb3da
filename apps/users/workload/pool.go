package workload

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

const (
	storeUsers = 1000       // of workloads that do not set a number
	maxUsers   = 10_000_000 // largest number of users

	defaultPool = 64
	mixPool     = 1000 // large enough that a mix's shares are integers
	minMixPool  = 100
	maxPool     = 100_000

	pageUsers = 10 // users on a page of a list
	maxPages  = 10 // pages that are listed

	unknownShare = 0.02 // of a mix's gets: their ids are unknown
	firstUnknown = users.FirstID + 500_000_000

	// Of a mix that deletes: users at either end of the store that no request is about, a part of
	// all. The oldest are about to be deleted, and the youngest may not exist yet.
	marginPart = 5
	maxMargin  = 500
	minUsers   = 100 // in a store of such a mix
	minPerConn = 10  // further users, for each connection
)

// newRequests returns the pool of an op on a store of n users.
func newRequests(w tare.Workload) ([]server.Request, error) {
	pool := w.Pool
	switch mix := allMixes()[w.Op] != nil; {
	case pool == 0 && mix:
		pool = mixPool
	case pool == 0:
		pool = defaultPool
	case mix && pool < minMixPool, pool > maxPool:
		return nil, fmt.Errorf("a pool of %d requests; a mix takes %d to %d, others up to that", pool, minMixPool, maxPool)
	}
	if err := checkWorkload(w); err != nil {
		return nil, err
	}
	var list []server.Request
	for _, c := range newCalls(w.Op, w.N, pool) {
		q, err := canonicalRequest(c)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// checkWorkload returns why a workload cannot be run.
func checkWorkload(w tare.Workload) error {
	t := tare.Traffic{}
	if w.Traffic != nil {
		t = *w.Traffic
	}
	switch {
	case w.N < 1 || w.N > maxUsers:
		return fmt.Errorf("n: a store of %d users; 1 to %d", w.N, maxUsers)
	case t.TLS:
		return fmt.Errorf("tls: the faces of %s are measured in plain text; leave it out", users.Name)
	case w.Op == opDelete && t.Segment > 0:
		return fmt.Errorf("segment: a store is soon empty that is only deleted from; op %s keeps its users", opPair)
	case w.Op == opDelete && maxRequests(wire.Workload{Op: w.Op, N: w.N}, t) < 1, w.Op == opPair && w.N < 2*t.Connections:
		return fmt.Errorf("n: a store of %d users; over %d connections %s takes more", w.N, t.Connections, w.Op)
	case w.Op == opPair && t.Segment > 0:
		return fmt.Errorf("segment: latencies are of single requests, and an operation of %s is two", opPair)
	case deletesUsers(w.Op) && w.N < minUsers+minPerConn*t.Connections && w.Op != opPair:
		return fmt.Errorf("n: a store of %d users; over %d connections %s takes %d", w.N, t.Connections, w.Op, minUsers+minPerConn*t.Connections)
	}
	return nil
}

// maxRequests returns how many requests can be sent before no user is left; 0 means no limit. Each
// connection may have one more in flight.
func maxRequests(w wire.Workload, t tare.Traffic) int64 {
	if w.Op != opDelete {
		return 0
	}
	return int64(w.N - 2*max(1, t.Connections))
}

// newCalls returns the calls of op, on a store of n users.
func newCalls(op string, n, pool int) []rpc.Call {
	if shares := allMixes()[op]; shares != nil {
		return newMix(op, shares, n, pool)
	}
	draw := fixture.NewRandom("tare/users/v1 " + op)
	var list []rpc.Call
	switch op {
	case opCreate:
		for i := range pool {
			list = append(list, createCall(i))
		}
	case opDelete:
		list = append(list, deleteCall())
	case opPair:
		for i := range pool {
			list = append(list, createCall(i), deleteCall())
		}
	case opGet, opUpdate:
		for i, k := range drawNumbers(draw, n, min(pool, n)) {
			c := rpc.Call{Op: opGet, ID: users.FirstID + int64(k)}
			if op == opUpdate {
				c = updateCall(i, c.ID)
			}
			list = append(list, c)
		}
	case opList:
		for _, k := range drawNumbers(draw, countPages(n), min(pool, countPages(n))) {
			list = append(list, listCall(k))
		}
	}
	return list
}

// newMix returns a pool of several operations, each with its share, in a fixed order.
func newMix(op string, shares []opShare, n, pool int) []rpc.Call {
	draw := fixture.NewRandom("tare/users/v1 " + op)
	var weights []float64
	for _, s := range shares {
		weights = append(weights, s.percent)
	}
	first, among := 0, n // users that requests are about
	counter := ""
	if deletesUsers(op) {
		margin := min(n/marginPart, maxMargin)
		first, among, counter = margin, n-2*margin, rpc.Deleted
	}
	anybody := func() int64 { return users.FirstID + int64(first) + int64(draw.Next()%uint64(among)) }
	var list []rpc.Call
	for i, times := range server.Shares(pool, weights) {
		unknown := 0
		if shares[i].op == opGet {
			unknown = server.Shares(times, []float64{unknownShare, 1 - unknownShare})[0]
		}
		for k := range times {
			var c rpc.Call
			switch shares[i].op {
			case opCreate:
				c = createCall(k)
			case opUpdate:
				c = updateCall(k, anybody())
				c.IDCounter = counter
			case opDelete:
				c = deleteCall()
			case opList:
				c = listCall(int(draw.Next() % uint64(countPages(n))))
			case opGet:
				if c = (rpc.Call{Op: opGet, ID: anybody(), IDCounter: counter}); k < unknown {
					c = rpc.Call{Op: opGet, ID: firstUnknown + int64(k), Status: 404}
				}
			}
			list = append(list, c)
		}
	}
	server.Shuffle(draw, list)
	return list
}

// E-mails of users that were created, and of those that were updated: no other users have them.
const (
	createdEmail = "n%09d@example.com"
	updatedEmail = "w%09d@example.com"
)

func createCall(i int) rpc.Call {
	return rpc.Call{Op: opCreate, Name: uniqueName("new", i), Email: createdEmail, EmailCounter: rpc.Created, EmailStep: true}
}

func updateCall(i int, id int64) rpc.Call {
	return rpc.Call{Op: opUpdate, ID: id, Name: uniqueName("changed", i), Email: updatedEmail, EmailCounter: rpc.Updated, EmailStep: true}
}

// deleteCall deletes the oldest user.
func deleteCall() rpc.Call {
	return rpc.Call{Op: opDelete, ID: users.FirstID, IDCounter: rpc.Deleted, IDStep: true}
}

func listCall(k int) rpc.Call { return rpc.Call{Op: opList, Page: k + 1, Limit: pageUsers} }

// countPages returns how many pages of a store are listed.
func countPages(n int) int { return max(1, min(maxPages, n/pageUsers)) }

// uniqueName returns a name that is unique in a pool: that of a seeded user, with a suffix.
func uniqueName(what string, i int) string {
	return fmt.Sprintf("%s, %s %d", users.Seeded(i).Name, what, i)
}

// drawNumbers returns k different numbers below n, in random order.
func drawNumbers(from *fixture.Random, n, k int) []int {
	seen := map[int]bool{}
	var list []int
	for len(list) < k {
		if x := int(from.Next() % uint64(n)); !seen[x] {
			seen[x] = true
			list = append(list, x)
		}
	}
	return list
}
