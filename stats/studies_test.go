package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Simulated studies: what the method promises, on made-up rounds with fixed
// seeds. 400 studies per world by default, 100 with -short and all 4,000 with
// TARE_SOAK=1.

// countStudies returns the number of studies of a simulation.
func countStudies() int {
	if os.Getenv("TARE_SOAK") == "1" {
		return 4000
	}
	return chooseCount(100, 400)
}

// chooseCount returns short with -short, and otherwise full.
func chooseCount(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}

// simulate counts the studies in which happens is true. Study i draws from its
// own generator, so the count does not depend on the number of cores.
func simulate(seed uint64, happens func(r *rand.Rand) bool) (count, of int) {
	of = countStudies()
	return simulateSome(of, seed, happens), of
}

// simulateSome is simulate for a given number of studies.
func simulateSome(of int, seed uint64, happens func(r *rand.Rand) bool) (count int) {
	hit := make([]bool, of)
	var wait sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for p := range procs {
		wait.Go(func() {
			for i := p; i < of; i += procs {
				hit[i] = happens(rand.New(rand.NewPCG(seed, uint64(i))))
			}
		})
	}
	wait.Wait()
	for _, h := range hit {
		if h {
			count++
		}
	}
	return count
}

// wantAtMost fails the test if the rate count/of is above nominal by more than the
// binomial error of the simulation (3.5 standard deviations).
func wantAtMost(t *testing.T, what string, count, of int, nominal float64) {
	t.Helper()
	lo, hi := ClopperPearson(count, of, 0.05)
	t.Logf("%-60s %4d of %d = %5.2f %% (%.2f … %.2f), nominal %.1f %%",
		what, count, of, 100*float64(count)/float64(of), 100*lo, 100*hi, 100*nominal)
	if float64(count) > nominal*float64(of)+3.5*math.Sqrt(nominal*(1-nominal)*float64(of)) {
		t.Errorf("%s: %d of %d, nominal %.1f %%", what, count, of, 100*nominal)
	}
}

// wantAtLeast fails the test if the rate count/of is below floor by more than the binomial
// error.
func wantAtLeast(t *testing.T, what string, count, of int, floor float64) {
	t.Helper()
	if float64(count) < floor*float64(of)-3.5*math.Sqrt(floor*(1-floor)*float64(of)) {
		t.Errorf("%s: %d of %d, expected at least %.1f %%", what, count, of, 100*floor)
	}
}

// cost draws the logarithm of the cost of one contender in one round.
type cost func(r *rand.Rand) float64

func gaussian(sd float64) cost {
	return func(r *rand.Rand) float64 { return sd * r.NormFloat64() }
}

// heavy draws from Student's t with two degrees of freedom, which has no variance.
func heavy(r *rand.Rand) float64 {
	return 0.03 * r.NormFloat64() / math.Sqrt(r.ExpFloat64())
}

// bursts draws noise with a lognormal burst that only increases the cost: it is strongly
// skewed.
func bursts(r *rand.Rand) float64 {
	return 0.02*r.NormFloat64() + 0.02*math.Exp(r.NormFloat64())
}

// collections adds size with probability share: a round in which one more
// collection cycle fell into the slices.
func collections(noise, size, share float64) cost {
	return func(r *rand.Rand) float64 {
		x := 0.0
		if noise > 0 {
			x = noise * r.NormFloat64()
		}
		if r.Float64() < share {
			x += size
		}
		return x
	}
}

// A world draws the effect of one round after another.
type world struct {
	name string
	next func(r *rand.Rand) func() float64
}

func pairWorld(name string, a, b cost) world {
	return world{name, func(r *rand.Rand) func() float64 {
		return func() float64 { return a(r) - b(r) }
	}}
}

func (w world) rounds(r *rand.Rand, n int) []float64 {
	next := w.next(r)
	x := make([]float64, n)
	for i := range x {
		x[i] = next()
	}
	return x
}

// identicalWorlds returns worlds in which both contenders are the same program.
func identicalWorlds() []world {
	return []world{
		pairWorld("gaussian", gaussian(0.06), gaussian(0.06)),
		pairWorld("heavy tails (t, 2 df)", heavy, heavy),
		pairWorld("skewed bursts", bursts, bursts),
		pairWorld("collection in 30 % of rounds", collections(0.02, 0.25, 0.3), collections(0.02, 0.25, 0.3)),
		pairWorld("collection in 5 % of rounds", collections(0.02, 0.25, 0.05), collections(0.02, 0.25, 0.05)),
		pairWorld("collections only (ties and zeros)", collections(0, 0.25, 0.4), collections(0, 0.25, 0.4)),
	}
}

// nullDistributions returns the null distributions of the signed-rank statistic for those
// numbers of rounds.
func nullDistributions(rounds ...int) [][]float64 {
	out := make([][]float64, slices.Max(rounds)+1)
	for _, n := range rounds {
		out[n] = SignedRankNull(n)
	}
	return out
}

// rejectsAtAnyLook reports whether the exact test rejects at any look.
func rejectsAtAnyLook(null [][]float64, x []float64, looks []int, level float64) bool {
	return slices.ContainsFunc(looks, func(n int) bool { return 2*null[n][signedRank(x[:n])] <= level })
}

// excludesAtAnyLook reports whether the interval at any look excludes the value at.
func excludesAtAnyLook(null [][]float64, x []float64, looks []int, level, at float64) bool {
	return slices.ContainsFunc(looks, func(n int) bool {
		lo, hi, ok := walshInterval(criticalOf(null[n], level), x[:n])
		return ok && (lo > at || hi < at)
	})
}

// Two entries of the same program: called different anywhere over the looks in
// at most 5 % of studies, whatever the noise looks like. Because the two costs
// are exchangeable the level is exact, so it is not far below either.
func TestFalseAlarms(t *testing.T) {
	looks := Looks(80)
	level := LookLevel(0.05, len(looks))
	null := nullDistributions(Looks(80)...)
	for i, w := range identicalWorlds() {
		count, of := simulate(100+uint64(i), func(r *rand.Rand) bool {
			return rejectsAtAnyLook(null, w.rounds(r, 80), looks, level)
		})
		wantAtMost(t, "same program, "+w.name, count, of, 0.05)
		if w.name != "collections only (ties and zeros)" { // conservative there
			wantAtLeast(t, "same program, "+w.name, count, of, 0.045)
		}
	}
}

// Other numbers of looks, a last round in place of the next look, other levels.
func TestFalseAlarmsOfOtherSchedules(t *testing.T) {
	w := identicalWorlds()[2]
	for i, c := range []struct {
		what   string
		rounds int
		alpha  float64
	}{
		{"one look at 12 rounds", 12, 0.05},
		{"3 looks, the last at 15 rounds", 15, 0.05},
		{"6 looks, the last at 50 rounds", 50, 0.05},
		{"9 looks, 180 rounds", 180, 0.05},
		{"7 looks at 1 %", 80, 0.01},
	} {
		looks := Looks(c.rounds)
		if c.rounds == 12 {
			looks = []int{12}
		}
		level, null := LookLevel(c.alpha, len(looks)), nullDistributions(looks...)
		count, of := simulate(200+uint64(i), func(r *rand.Rand) bool {
			return rejectsAtAnyLook(null, w.rounds(r, c.rounds), looks, level)
		})
		wantAtMost(t, c.what, count, of, c.alpha)
	}
}

// A study that goes on until it is decided, to the last look there is: the true
// ratio is outside of the interval at any of its fifteen looks in at most 5 % of
// studies, of two entries of one program and of different ones.
func TestUntilDecidedOverAllLooks(t *testing.T) {
	looks := Looks(LastLook)
	level := LookLevel(0.05, len(looks))
	for i, w := range []world{
		pairWorld("same program", gaussian(0.06), gaussian(0.06)),
		pairWorld("same program, heavy tails", heavy, heavy),
		pairWorld("different, one side noisier", shiftCost(math.Log(0.75), gaussian(0.12)), gaussian(0.03)),
	} {
		centre := w.pseudoMedian()
		count, of := simulate(950+uint64(i), func(r *rand.Rand) bool {
			x := w.rounds(r, LastLook)
			for k := range x {
				x[k] -= centre
			}
			return slices.ContainsFunc(looks, func(n int) bool { return SignedRankP(x[:n]) <= level })
		})
		wantAtMost(t, w.name, count, of, 0.05)
	}
}

// Noise that grows fourfold in the course of a study, or comes and goes: the
// joint null assumes neither. The late rounds then measure more, looks are less
// alike, and up to 5.5 % of studies (of 100,000) are wrong instead of 5 %.
func TestFalseAlarmsUnderDriftingNoise(t *testing.T) {
	looks := Looks(80)
	level := LookLevel(0.05, len(looks))
	null := nullDistributions(Looks(80)...)
	for i, c := range []struct {
		what  string
		scale func(round int) float64
	}{
		{"noise grows fourfold over 80 rounds", func(n int) float64 { return 1 + 3*float64(n)/80 }},
		{"noise shrinks to a quarter over 80 rounds", func(n int) float64 { return 4 - 3*float64(n)/80 }},
		{"noise is threefold every other 10 rounds", func(n int) float64 { return 1 + 2*float64(n/10%2) }},
	} {
		count, of := simulate(300+uint64(i), func(r *rand.Rand) bool {
			x := make([]float64, 80)
			for n := range x {
				x[n] = 0.05 * c.scale(n) * r.NormFloat64()
			}
			return rejectsAtAnyLook(null, x, looks, level)
		})
		wantAtMost(t, c.what, count, of, 0.055)
	}
}

// pseudoMedian returns the value that the estimate estimates: the median of (d + d′)/2.
func (w world) pseudoMedian() float64 {
	next := w.next(rand.New(rand.NewPCG(1, 1)))
	x := make([]float64, 200_000)
	for i := range x {
		x[i] = next()/2 + next()/2
	}
	return Median(x)
}

func shiftCost(by float64, c cost) cost {
	return func(r *rand.Rand) float64 { return by + c(r) }
}

// Different programs: the intervals of all looks hold the true pseudo-median at
// once. For symmetric noise that is exact. Where the two sides are noisy in
// different ways (one collects, one does not; one is slowed in bursts) the
// effects are skewed and the level is approximate; the tolerance says by how
// much.
func TestCoverage(t *testing.T) {
	looks := Looks(80)
	level := LookLevel(0.05, len(looks))
	null := nullDistributions(Looks(80)...)
	faster := math.Log(0.75)
	for i, c := range []world{
		pairWorld("gaussian", shiftCost(faster, gaussian(0.06)), gaussian(0.06)),
		pairWorld("gaussian, one side noisier", shiftCost(faster, gaussian(0.12)), gaussian(0.03)),
		pairWorld("heavy tails", shiftCost(faster, heavy), heavy),
		pairWorld("bursts on both sides", shiftCost(faster, bursts), bursts),
		pairWorld("collections on both sides alike", shiftCost(faster, collections(0.02, 0.25, 0.3)), collections(0.02, 0.25, 0.3)),
		pairWorld("collections on both sides, unlike", shiftCost(faster, collections(0.04, 0.10, 0.3)), collections(0.04, 0.05, 0.5)),
		pairWorld("collections on one side", shiftCost(faster, gaussian(0.04)), collections(0.04, 0.10, 0.3)),
		pairWorld("rare collections on one side", shiftCost(faster, gaussian(0.04)), collections(0.04, 0.25, 0.1)),
		pairWorld("bursts on one side", shiftCost(faster, gaussian(0.03)), bursts),
	} {
		centre := c.pseudoMedian()
		count, of := simulate(400+uint64(i), func(r *rand.Rand) bool {
			return excludesAtAnyLook(null, c.rounds(r, 80), looks, level, centre)
		})
		wantAtMost(t, "pseudo-median missed, "+c.name, count, of, 0.05)
	}
}

// Five workloads of which some differ: the chance that any of the equal ones is
// called different, whichever look it is at.
func TestFamilyOverLooks(t *testing.T) {
	looks := Looks(80)
	null := nullDistributions(Looks(80)...)
	w := identicalWorlds()[3]
	for i, c := range []struct {
		what    string
		differs int
	}{{"five equal workloads", 0}, {"three equal workloads of five", 2}} {
		count, of := simulate(500+uint64(i), func(r *rand.Rand) bool {
			x := make([][]float64, 5)
			for k := range x {
				x[k] = w.rounds(r, 80)
				for n := range x[k] {
					if k < c.differs {
						x[k][n] += 0.5
					}
				}
			}
			return slices.ContainsFunc(looks, func(n int) bool {
				p := make([]float64, len(x))
				for k := range x {
					p[k] = 2 * null[n][signedRank(x[k][:n])]
				}
				return slices.Contains(HolmLooks(p, 0.05, len(looks))[c.differs:], true)
			})
		})
		wantAtMost(t, c.what+", Holm over looks", count, of, 0.05)
	}
}

// Looking after every round and stopping at p < 5 % is not a 5 % test.
func TestPeekingIsWrong(t *testing.T) {
	var each []int
	for n := 6; n <= 60; n++ {
		each = append(each, n)
	}
	null := nullDistributions(each...)
	for i, w := range identicalWorlds()[:4] {
		of := max(400, countStudies()) // fewer do not tell
		count := simulateSome(of, 600+uint64(i), func(r *rand.Rand) bool {
			x := w.rounds(r, 60)
			return rejectsAtAnyLook(null, x, each, 0.05)
		})
		t.Logf("peeking after each of 60 rounds, %-30s %4d of %d = %.1f %%", w.name, count, of, 100*float64(count)/float64(of))
		if float64(count) < 0.2*float64(of) {
			t.Errorf("peeking called %d of %d equal programs different: this test no longer shows why looks are planned", count, of)
		}
	}
}
