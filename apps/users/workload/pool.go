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
	storeUsers = 1000       // of workloads that do not say how many
	storeMost  = 10_000_000 // that can be said

	defaultPool = 64
	mixPool     = 1000 // large enough for a mix's shares to come out whole
	mixLeast    = 100
	poolMost    = 100_000

	pageUsers = 10 // users on a page that is listed
	mostPages = 10 // that are listed

	unknownShare = 0.02 // of a mix's gets: nobody has that id
	unknownFrom  = users.FirstID + 500_000_000

	// Of a mix that deletes: users at either end of the store of whom nobody asks
	// anything, a part of all. The oldest are about to be deleted, and the youngest
	// may not be there yet.
	marginPart  = 5
	marginMost  = 500
	leastUsers  = 100 // in a store that such a mix is asked of
	leastOfEach = 10  // users besides, for each connection
)

// requests are the pool of an op on a store of n users.
func requests(w tare.Workload) ([]server.Request, error) {
	pool := w.Pool
	switch mix := mixes()[w.Op] != nil; {
	case pool == 0 && mix:
		pool = mixPool
	case pool == 0:
		pool = defaultPool
	case mix && pool < mixLeast, pool > poolMost:
		return nil, fmt.Errorf("a pool of %d requests; a mix takes %d to %d, others up to that", pool, mixLeast, poolMost)
	}
	if err := askable(w); err != nil {
		return nil, err
	}
	var list []server.Request
	for _, c := range calls(w.Op, w.N, pool) {
		q, err := canonical(c)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// askable says what is wrong with a workload that cannot be asked.
func askable(w tare.Workload) error {
	t := tare.Traffic{}
	if w.Traffic != nil {
		t = *w.Traffic
	}
	switch {
	case w.N < 1 || w.N > storeMost:
		return fmt.Errorf("n: a store of %d users; 1 to %d", w.N, storeMost)
	case t.TLS:
		return fmt.Errorf("tls: the faces of %s are measured in plain text; leave it out", users.Name)
	case w.Op == opDelete && t.Segment > 0:
		return fmt.Errorf("segment: a store is soon empty that is only deleted from; op %s keeps its users", opPair)
	case w.Op == opDelete && most(wire.Workload{Op: w.Op, N: w.N}, t) < 1, w.Op == opPair && w.N < 2*t.Connections:
		return fmt.Errorf("n: a store of %d users; over %d connections %s takes more", w.N, t.Connections, w.Op)
	case w.Op == opPair && t.Segment > 0:
		return fmt.Errorf("segment: latencies are of single requests, and an operation of %s is two", opPair)
	case deletes(w.Op) && w.N < leastUsers+leastOfEach*t.Connections && w.Op != opPair:
		return fmt.Errorf("n: a store of %d users; over %d connections %s takes %d", w.N, t.Connections, w.Op, leastUsers+leastOfEach*t.Connections)
	}
	return nil
}

// most is how many requests can be sent before there is nobody left: each
// connection may have one more under way.
func most(w wire.Workload, t tare.Traffic) int64 {
	if w.Op != opDelete {
		return 0
	}
	return int64(w.N - 2*max(1, t.Connections))
}

// calls are what op asks for, of a store of n users.
func calls(op string, n, pool int) []rpc.Call {
	if shares := mixes()[op]; shares != nil {
		return mix(op, shares, n, pool)
	}
	draw := fixture.NewRandom("tare/users/v1 " + op)
	var list []rpc.Call
	switch op {
	case opCreate:
		for i := range pool {
			list = append(list, create(i))
		}
	case opDelete:
		list = append(list, remove())
	case opPair:
		for i := range pool {
			list = append(list, create(i), remove())
		}
	case opGet, opUpdate:
		for i, k := range draws(draw, n, min(pool, n)) {
			c := rpc.Call{Op: opGet, ID: users.FirstID + int64(k)}
			if op == opUpdate {
				c = update(i, c.ID)
			}
			list = append(list, c)
		}
	case opList:
		for _, k := range draws(draw, pages(n), min(pool, pages(n))) {
			list = append(list, page(k))
		}
	}
	return list
}

// mix is a pool of several operations, each with its share, in a fixed order.
func mix(op string, shares []share, n, pool int) []rpc.Call {
	draw := fixture.NewRandom("tare/users/v1 " + op)
	var weights []float64
	for _, s := range shares {
		weights = append(weights, s.percent)
	}
	first, among := 0, n // users who are asked for
	counter := ""
	if deletes(op) {
		margin := min(n/marginPart, marginMost)
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
				c = create(k)
			case opUpdate:
				c = update(k, anybody())
				c.IDCounter = counter
			case opDelete:
				c = remove()
			case opList:
				c = page(int(draw.Next() % uint64(pages(n))))
			case opGet:
				if c = (rpc.Call{Op: opGet, ID: anybody(), IDCounter: counter}); k < unknown {
					c = rpc.Call{Op: opGet, ID: unknownFrom + int64(k), Status: 404}
				}
			}
			list = append(list, c)
		}
	}
	server.Shuffle(draw, list)
	return list
}

// E-mails of users that were created, and of those that were updated: none is
// anybody else's.
const (
	createdEmail = "n%09d@example.com"
	updatedEmail = "w%09d@example.com"
)

func create(i int) rpc.Call {
	return rpc.Call{Op: opCreate, Name: name("new", i), Email: createdEmail, EmailCounter: rpc.Created, EmailStep: true}
}

func update(i int, id int64) rpc.Call {
	return rpc.Call{Op: opUpdate, ID: id, Name: name("changed", i), Email: updatedEmail, EmailCounter: rpc.Updated, EmailStep: true}
}

// remove is for the oldest user.
func remove() rpc.Call {
	return rpc.Call{Op: opDelete, ID: users.FirstID, IDCounter: rpc.Deleted, IDStep: true}
}

func page(k int) rpc.Call { return rpc.Call{Op: opList, Page: k + 1, Limit: pageUsers} }

// pages is how many pages of a store are listed.
func pages(n int) int { return max(1, min(mostPages, n/pageUsers)) }

// name is one that nobody else in a pool has: of a seeded user, with something
// behind it.
func name(what string, i int) string {
	return fmt.Sprintf("%s, %s %d", users.Seeded(i).Name, what, i)
}

// draws are k different numbers below n, in an order of their own.
func draws(from *fixture.Random, n, k int) []int {
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
