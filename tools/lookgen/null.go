package main

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/tarebench/tare/stats"
)

// null is the simulated joint distribution of the p-values at a series of looks, if the null hypothesis
// is true.
type null struct {
	looks []int // number of rounds at each look, ascending
	draws int   // number of simulated studies
	seed  uint64

	// p has every two-sided p-value up to maxLevel that is possible at some look, in ascending order.
	p []float64
	// count[l][i] counts the draws with p[i] as the smallest p-value over the
	// first l+1 looks.
	count [][]int64
}

// streams is the number of independent random generators. It is a constant, so that the table does not
// depend on the number of processors.
const streams = 64

// maxLevel is above every level in the tables.
const maxLevel = 0.06

// drawNull simulates draws studies with these looks.
func drawNull(looks []int, draws int, seed uint64) *null {
	n := &null{looks: looks, draws: draws, seed: seed}
	p := make([][]float64, len(looks)) // two-sided p-values by look and statistic
	for l, rounds := range looks {
		p[l] = twoSided(rounds)
		n.p = append(n.p, p[l]...)
	}
	slices.Sort(n.p)
	n.p = slices.Compact(n.p)
	if i, _ := slices.BinarySearch(n.p, maxLevel); i < len(n.p) {
		n.p = n.p[:i+1]
	}
	index := make([][]int32, len(looks)) // index in n.p of each p-value, by look and statistic
	for l := range looks {
		index[l] = make([]int32, len(p[l]))
		for w, q := range p[l] {
			i, _ := slices.BinarySearch(n.p, q)
			index[l][w] = int32(i)
		}
		n.count = append(n.count, make([]int64, len(n.p)))
	}

	var wait sync.WaitGroup
	var lock sync.Mutex
	queue := make(chan int, streams)
	for s := range streams {
		queue <- s
	}
	close(queue)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			count := make([][]int64, len(looks))
			for l := range count {
				count[l] = make([]int64, len(n.p))
			}
			for s := range queue {
				n.drawStream(s, index, count)
			}
			lock.Lock()
			defer lock.Unlock()
			for l := range count {
				for i, c := range count[l] {
					n.count[l][i] += c
				}
			}
		})
	}
	wait.Wait()
	return n
}

// drawStream makes the draws of one random generator, and adds them to count, which is as n.count.
func (n *null) drawStream(stream int, index [][]int32, count [][]int64) {
	draws := n.draws / streams
	if stream < n.draws%streams {
		draws++
	}
	sampler := newSampler(n.looks, rand.NewPCG(n.seed, uint64(stream)))
	for range draws {
		smallest := int32(len(n.p)) // index of the smallest p-value so far
		for l, w := range sampler.nextStatistics() {
			if smallest = min(smallest, index[l][w]); int(smallest) < len(n.p) {
				count[l][smallest]++
			}
		}
	}
}

// twoSided returns the two-sided p-value of every value of the signed-rank statistic after rounds rounds.
func twoSided(rounds int) []float64 {
	p := make([]float64, rounds*(rounds+1)/2+1) // the statistic is a sum of ranks, from 0 to 1+2+…+rounds
	cdf := func(w int) float64 { return stats.SignedRankCDF(rounds, w) }
	if rounds <= stats.MaxRounds {
		exact := stats.SignedRankNull(rounds)
		cdf = func(w int) float64 { return exact[w] }
	}
	for w := range p {
		p[w] = min(1, 2*cdf(min(w, len(p)-1-w)))
	}
	return p
}

// findLevels returns, for 1 … len(looks) looks, the largest nominal level a with P(some p ≤ a) ≤ alpha. For
// one look it is alpha.
//
// P-values are discrete, so all levels between two possible values are equivalent. A level for more looks is
// also valid for fewer. It is used there if it is larger, so that levels do not rise with the number of
// looks. No level is below alpha/looks (Bonferroni).
func (n *null) findLevels(alpha float64) []float64 {
	a := make([]float64, len(n.looks))
	for l := len(a) - 1; l > 0; l-- {
		a[l] = max(n.largestLevel(alpha, l+1), alpha/float64(l+1))
		if l+1 < len(a) {
			a[l] = max(a[l], a[l+1])
		}
	}
	a[0] = alpha
	return a
}

// largestLevel returns the largest p-value a with P(some p ≤ a) ≤ alpha over the first looks looks, or 0
// without such a level.
func (n *null) largestLevel(alpha float64, looks int) float64 {
	best, sum := 0.0, int64(0)
	for i, c := range n.count[looks-1] {
		if sum += c; float64(sum) > alpha*float64(n.draws) {
			break
		}
		if c > 0 {
			best = n.p[i]
		}
	}
	return best
}
