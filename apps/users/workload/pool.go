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
	storeUsers = 1000       // default number of users
	maxUsers   = 10_000_000 // largest number of users

	defaultPool = 64   // default requests in the pool
	mixPool     = 1000 // each share of a mix is an integer
	minMixPool  = 100
	maxPool     = 100_000

	pageUsers = 10 // users on a page
	maxPages  = 10 // number of pages that are requested

	unknownShare = 0.02 // share of gets with an unknown id, in a mix
	firstUnknown = users.FirstID + 500_000_000

	// In a mix with deletes, gets and updates avoid both ends: the oldest users may be gone, the newest not
	// there yet. Each margin is a fifth of the users, at most maxMargin.
	marginPart = 5
	maxMargin  = 500
	minUsers   = 100 // users that a mix with deletes needs
	minPerConn = 10  // more users for each connection
)

// newRequests returns the requests that the load generator sends in a cycle. N is the number of users.
func newRequests(w tare.Workload) ([]server.Request, error) {
	pool := w.Pool
	isMix := allMixes()[w.Op] != nil
	switch {
	case pool == 0 && isMix:
		pool = mixPool
	case pool == 0:
		pool = defaultPool
	case isMix && pool < minMixPool, pool > maxPool:
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

func checkWorkload(w tare.Workload) error {
	t := tare.Traffic{}
	if w.Traffic != nil {
		t = *w.Traffic
	}
	minMixUsers := minUsers + minPerConn*t.Connections
	tooFewToDelete := w.Op == opDelete && maxRequests(wire.Workload{Op: w.Op, N: w.N}, t) < 1
	tooFewForPairs := w.Op == opPair && w.N < 2*t.Connections // a connection may have two deletes in flight
	switch {
	case w.N < 1 || w.N > maxUsers:
		return fmt.Errorf("n: a store of %d users; 1 to %d", w.N, maxUsers)
	case t.TLS:
		return fmt.Errorf("tls: the faces of %s are measured in plain text; leave it out", users.Name)
	case w.Op == opDelete && t.Segment > 0:
		return fmt.Errorf("segment: deletes alone soon empty the store; op %s keeps its users", opPair)
	case tooFewToDelete || tooFewForPairs:
		return fmt.Errorf("n: a store of %d users; over %d connections %s takes more", w.N, t.Connections, w.Op)
	case w.Op == opPair && t.Segment > 0:
		return fmt.Errorf("segment: latencies are of single requests, and an operation of %s is two", opPair)
	case deletesUsers(w.Op) && w.Op != opPair && w.N < minMixUsers:
		return fmt.Errorf("n: a store of %d users; over %d connections %s takes %d", w.N, t.Connections, w.Op, minMixUsers)
	}
	return nil
}

// maxRequests returns how many requests a workload may send; 0 means no limit. Deletes are fewer than the users,
// because each connection may have more requests in flight.
func maxRequests(w wire.Workload, t tare.Traffic) int64 {
	if w.Op != opDelete {
		return 0
	}
	return int64(w.N - 2*max(1, t.Connections))
}

// newCalls returns pool calls of op on n users. There are fewer with fewer users or pages, one for opDelete,
// and two per operation of opPair.
func newCalls(op string, n, pool int) []rpc.Call {
	if shares := allMixes()[op]; shares != nil {
		return newMix(op, shares, n, pool)
	}
	random := fixture.NewRandom("tare/users/v1 " + op)
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
		for i, k := range drawNumbers(random, n, min(pool, n)) {
			c := rpc.Call{Op: opGet, ID: users.FirstID + int64(k)}
			if op == opUpdate {
				c = updateCall(i, c.ID)
			}
			list = append(list, c)
		}
	case opList:
		for _, k := range drawNumbers(random, countPages(n), min(pool, countPages(n))) {
			list = append(list, listCall(k))
		}
	}
	return list
}

// newMix shuffles shares of operations with a fixed seed.
func newMix(op string, shares []opShare, n, pool int) []rpc.Call {
	random := fixture.NewRandom("tare/users/v1 " + op)
	var weights []float64
	for _, s := range shares {
		weights = append(weights, s.percent)
	}
	// Gets and updates select one of count users, from offset first on. With deletes, ids move up, to stay
	// within the store.
	first, count := 0, n
	idCounter := ""
	if deletesUsers(op) {
		margin := min(n/marginPart, maxMargin)
		first, count, idCounter = margin, n-2*margin, rpc.Deleted
	}
	drawID := func() int64 { return users.FirstID + int64(first) + int64(random.Next()%uint64(count)) }
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
				c = updateCall(k, drawID())
				c.IDCounter = idCounter
			case opDelete:
				c = deleteCall()
			case opList:
				c = listCall(int(random.Next() % uint64(countPages(n))))
			case opGet:
				c = rpc.Call{Op: opGet, ID: drawID(), IDCounter: idCounter}
				if k < unknown {
					c = rpc.Call{Op: opGet, ID: firstUnknown + int64(k), Status: 404}
				}
			}
			list = append(list, c)
		}
	}
	server.Shuffle(random, list)
	return list
}

// E-mails of creates and updates. The load generator replaces %09d by a new number, so none occurs twice.
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

// deleteCall deletes the oldest user: its id goes up each time.
func deleteCall() rpc.Call {
	return rpc.Call{Op: opDelete, ID: users.FirstID, IDCounter: rpc.Deleted, IDStep: true}
}

// listCall requests page k, from 0.
func listCall(k int) rpc.Call { return rpc.Call{Op: opList, Page: k + 1, Limit: pageUsers} }

func countPages(n int) int { return max(1, min(maxPages, n/pageUsers)) }

// uniqueName returns a name that is unique in a pool: a seeded name, a suffix and i.
func uniqueName(suffix string, i int) string {
	return fmt.Sprintf("%s, %s %d", users.Seeded(i).Name, suffix, i)
}

// drawNumbers returns k different numbers below n in random order.
func drawNumbers(random *fixture.Random, n, k int) []int {
	seen := map[int]bool{}
	var list []int
	for len(list) < k {
		if x := int(random.Next() % uint64(n)); !seen[x] {
			seen[x] = true
			list = append(list, x)
		}
	}
	return list
}
