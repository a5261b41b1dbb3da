package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/tarebench/tare"
)

// This file lays out rounds: the random orders in which programs take turns.

// Round lays out round index (from 1) of the plan p: the random orders in which contenders start
// and take turns. tau is the factor by which the slices of this round are longer than planned. The
// result depends only on the arguments, so a resumed study continues with the same orders.
func Round(p tare.Plan, index, tau int) tare.Round {
	rng := newRand(p.Seed, index, tau)
	r := tare.Round{
		Index:  index,
		Tau:    tau,
		Start:  shuffle(rng, p.Contenders),
		Orders: map[string][][]string{},
	}
	var names []string
	for _, s := range p.Slices {
		// A round of longer slices omits workloads whose slices are long anyway.
		if tau == 1 || LongCount(s, tau) > 0 {
			names = append(names, s.Workload)
		}
	}
	r.Workloads = shuffle(rng, names)
	for _, s := range p.Slices {
		count := s.Count
		if tau > 1 {
			count = LongCount(s, tau)
		}
		if count == 0 {
			continue
		}
		r.Orders[s.Workload] = makeOrders(rng, s.Contenders, count, p.Isolation)
	}
	return r
}

// makeOrders returns the order of the contenders for each of count slices. In lockstep, contenders
// take turns slice by slice. The orders are then the rows of a Williams design, in random order:
// every contender is equally often in each position and after each other one. Otherwise all slices
// have the same order.
func makeOrders(rng *rand.Rand, ids []string, count int, iso tare.Isolation) [][]string {
	ids = shuffle(rng, ids)
	out := make([][]string, 0, count)
	if iso == tare.TrialWise {
		for range count {
			out = append(out, ids)
		}
		return out
	}
	rows := Williams(len(ids))
	for len(out) < count {
		for _, i := range rng.Perm(len(rows)) {
			if len(out) == count {
				break
			}
			order := make([]string, len(ids))
			for pos, c := range rows[i] {
				order[pos] = ids[c]
			}
			out = append(out, order)
		}
	}
	return out
}

// Williams returns a Williams design for k treatments: k rows if k is even, 2k if it is odd. Each
// treatment is equally often in each position, and equally often after each other treatment.
//
// Source: E. J. Williams, "Experimental designs balanced for the estimation of residual effects of
// treatments", Australian Journal of Scientific Research A 2 (1949), 149–168.
func Williams(k int) [][]int {
	if k == 1 {
		return [][]int{{0}}
	}
	first := make([]int, k) // neighbours have all differences modulo k
	for i, lo, hi := 1, 1, k-1; i < k; i++ {
		if i%2 == 1 {
			first[i] = lo
			lo++
		} else {
			first[i] = hi
			hi--
		}
	}
	var rows [][]int
	for shift := range k {
		row := make([]int, k)
		for i, v := range first {
			row[i] = (v + shift) % k
		}
		rows = append(rows, row)
	}
	if k%2 == 1 { // the reversed rows restore the balance of neighbours
		for _, row := range rows[:k] {
			reversed := make([]int, k)
			for i, v := range row {
				reversed[k-1-i] = v
			}
			rows = append(rows, reversed)
		}
	}
	return rows
}

// newRand returns the random source of one round. It depends only on the plan's seed and the round.
func newRand(seed string, index, tau int) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "tare/plan/v1 %s %d %d", seed, index, tau))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

func shuffle(rng *rand.Rand, list []string) []string {
	out := append([]string(nil), list...)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Sample draws n different cases below size for contender in round index, or all if size is
// smaller. A case is an input whose output is compared with the reference. The cases depend on the
// plan's seed.
func Sample(p tare.Plan, index int, contender string, size, n int) []int {
	rng := newRand(p.Seed+" "+contender, index, 0)
	return rng.Perm(size)[:min(n, size)]
}
