package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare/stats"
)

// Fewer draws, another seed: the committed levels come out again within the
// error of the draws.
func TestCommittedLevels(t *testing.T) {
	const draws = 80_000
	n := drawNull(stats.Looks(stats.MaxRounds), draws, 20260301)
	for _, alpha := range []float64{0.05, 0.05 / 2, 0.05 / 3, 0.01, 0.05 / 8, 0.05 / 20, 0.001} {
		for looks := 2; looks <= len(n.looks); looks++ {
			a := stats.LookLevel(alpha, looks)
			slack := 4.5 * math.Sqrt(alpha/draws)
			if got := n.chance(a, looks); got > alpha+slack {
				t.Errorf("%d looks at %g: P(some p ≤ %g) = %g", looks, alpha, a, got)
			}
			// One possible p-value more would be too much: the level is the largest.
			if got := n.chance(n.after(a, looks), looks); got < alpha-slack {
				t.Errorf("%d looks at %g: %g is too strict, P = %g one step further", looks, alpha, a, got)
			}
		}
	}
}

// chance returns the simulated P(some p ≤ a) over the first looks looks.
func (n *null) chance(a float64, looks int) float64 {
	sum := int64(0)
	for i, c := range n.count[looks-1] {
		if n.p[i] <= a {
			sum += c
		}
	}
	return float64(sum) / float64(n.draws)
}

// after returns the first p-value above a that some draw has as its smallest
// over the first looks looks.
func (n *null) after(a float64, looks int) float64 {
	for i, c := range n.count[looks-1] {
		if n.p[i] > a && c > 0 {
			return n.p[i]
		}
	}
	return 1
}

// The last round in place of the next look, at the level of that look.
func TestLevelServesAnEarlierLastLook(t *testing.T) {
	const draws = 50_000
	for _, rounds := range []int{9, 10, 15, 23, 33, 58, 105, 155} {
		looks := stats.Looks(rounds)
		n := drawNull(looks, draws, 7)
		for _, alpha := range []float64{0.05, 0.01} {
			if got := n.chance(stats.LookLevel(alpha, len(looks)), len(looks)); got > alpha+4.5*math.Sqrt(alpha/draws) {
				t.Errorf("looks at %v: P = %g, want at most %g", looks, got, alpha)
			}
		}
	}
}

// All signs and all orders of magnitude of five rounds, against the sampler.
func TestSamplerAgainstEnumeration(t *testing.T) {
	looks := []int{2, 3, 5}
	type key [3]int
	exact := map[key]float64{}
	total := 0.0
	permutations([]int{1, 2, 3, 4, 5}, func(magnitude []int) {
		for signs := range 32 {
			var k key
			for l, rounds := range looks {
				for i := range rounds {
					if signs>>i&1 == 0 {
						continue
					}
					for j := range rounds {
						if magnitude[j] <= magnitude[i] {
							k[l]++
						}
					}
				}
			}
			exact[k]++
			total++
		}
	})
	const draws = 100_000
	drawn := map[key]float64{}
	s := newSampler(looks, rand.NewPCG(3, 3))
	for range draws {
		drawn[key(s.nextStatistics())]++
	}
	for k, c := range drawn {
		want := exact[k] / total
		if got := c / draws; math.Abs(got-want) > 5*math.Sqrt(want/draws) {
			t.Errorf("P(W = %v) = %.5f, drawn %.5f", k, want, got)
		}
	}
	if len(drawn) != len(exact) {
		t.Errorf("%d outcomes drawn, %d possible", len(drawn), len(exact))
	}
}

func permutations(x []int, visit func([]int)) {
	var from func(int)
	from = func(i int) {
		if i == len(x) {
			visit(x)
			return
		}
		for j := i; j < len(x); j++ {
			x[i], x[j] = x[j], x[i]
			from(i + 1)
			x[i], x[j] = x[j], x[i]
		}
	}
	from(0)
}

// Every look of the long schedule has its exact one-look distribution.
func TestSamplerMarginals(t *testing.T) {
	looks := stats.Looks(stats.MaxRounds)
	const draws = 30_000
	s := newSampler(looks, rand.NewPCG(11, 0))
	sum, square := make([]float64, len(looks)), make([]float64, len(looks))
	for range draws {
		for l, w := range s.nextStatistics() {
			sum[l] += float64(w)
			square[l] += float64(w) * float64(w)
		}
	}
	for l, rounds := range looks {
		n := float64(rounds)
		mean, variance := n*(n+1)/4, n*(n+1)*(2*n+1)/24
		got := sum[l] / draws
		if math.Abs(got-mean) > 5*math.Sqrt(variance/draws) {
			t.Errorf("mean at %d rounds = %.1f, want %.1f", rounds, got, mean)
		}
		if v := square[l]/draws - got*got; math.Abs(v/variance-1) > 0.05 {
			t.Errorf("variance at %d rounds = %.1f, want %.1f", rounds, v, variance)
		}
	}
}

func TestTableDoesNotDependOnCores(t *testing.T) {
	var table [2]bytes.Buffer
	for i, procs := range []int{1, 4} {
		before := runtime.GOMAXPROCS(procs)
		err := runCommand([]string{"-draws", "5000", "-seed", "9"}, &table[i])
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(table[0].Bytes(), table[1].Bytes()) {
		t.Error("the same draws gave two tables")
	}
	if !strings.Contains(table[0].String(), "from 5000 draws with seed 9") {
		t.Error("the table does not say how it was drawn")
	}
}

// The committed file was drawn with the default flags and holds every level.
func TestCommittedTable(t *testing.T) {
	src, err := os.ReadFile("../../stats/looktable.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := "from 100000000 draws with seed 1."; !strings.Contains(string(src), want) {
		t.Errorf("the committed table was not drawn %q", want)
	}
	level, expr := tabulatedLevels()
	at := 0
	for i, e := range expr {
		next := strings.Index(string(src)[at:], "\t{"+e+",")
		if next < 0 {
			t.Fatalf("no row, or out of order: %s", e)
		}
		at += next
		if i > 0 && level[i] >= level[i-1] {
			t.Errorf("%s does not follow %s", e, expr[i-1])
		}
	}
}

// A level must not be rounded below the p-value it stands for.
func TestLiteralRoundsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for range 10_000 {
		a := math.Exp(-12 * r.Float64())
		back, err := strconv.ParseFloat(formatLevel(a), 64)
		if err != nil || back < a || back > a*(1+2e-8) {
			t.Fatalf("%v is written %s", a, formatLevel(a))
		}
	}
}

func TestBadFlags(t *testing.T) {
	if err := runCommand([]string{"-draws", "many"}, &bytes.Buffer{}); err == nil {
		t.Error("-draws many was accepted")
	}
	if err := runCommand([]string{"-draws", "64", "-o", "no/such/directory/t.go"}, &bytes.Buffer{}); err == nil {
		t.Error("a table nobody can write was written")
	}
}
