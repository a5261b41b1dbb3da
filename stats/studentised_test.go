package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// studentisedInterval returns the interval of the signed-rank test on effects that are
// divided by the scale of their round, which is estimated from its blocks. If the scales
// are known beforehand it is as exact as [Interval]. ADR 22 explains why it is not used.
func studentisedInterval(effects, scales []float64, alpha float64) (lo, hi float64, ok bool) {
	n := len(effects)
	if n < MinRounds(alpha) {
		return 0, 0, false
	}
	var at []float64 // where the statistic can change
	for i := range effects {
		at = append(at, effects[i])
		for j := range i {
			at = append(at, (effects[i]*scales[j]+effects[j]*scales[i])/(scales[i]+scales[j]))
			if d := scales[j] - scales[i]; d != 0 {
				at = append(at, (effects[i]*scales[j]-effects[j]*scales[i])/d)
			}
		}
	}
	slices.Sort(at)
	low, top := criticalOf(SignedRankNull(n), alpha), n*(n+1)/2
	accepted := func(theta float64) bool {
		z := make([]float64, n)
		for i, e := range effects {
			z[i] = (e - theta) / scales[i]
		}
		w := signedRank(z)
		return w > low && w < top-low
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := 1; i < len(at); i++ {
		if at[i] > at[i-1] && accepted((at[i]+at[i-1])/2) {
			lo, hi = min(lo, at[i-1]), max(hi, at[i])
		}
	}
	return lo, hi, hi > lo
}

// scalesOf estimates the scale of each round from the variance between rounds and the
// variance of the round's blocks.
func scalesOf(blocks [][]float64) []float64 {
	_, between, _ := Components(blocks)
	out := make([]float64, len(blocks))
	for i, b := range blocks {
		mean, ss := 0.0, 0.0
		for _, x := range b {
			mean += x / float64(len(b))
		}
		for _, x := range b {
			ss += (x - mean) * (x - mean)
		}
		out[i] = math.Sqrt(max(between+ss/float64(len(b)-1)/float64(len(b)), 1e-18))
	}
	return out
}

// TestStudentisedRounds is the simulation of ADR 22: rounds of four blocks, with noise
// that is even over rounds and noise that is not. Half of the variance of a round lies
// between rounds.
func TestStudentisedRounds(t *testing.T) {
	const rounds, blocks, alpha = 12, 4, 0.05
	studies := chooseCount(1000, 4000)
	for _, c := range []struct {
		name   string
		uneven float64 // standard deviation of the logarithm of a round's noise
	}{{"even", 0}, {"uneven", 0.5}, {"very uneven", 1}} {
		r := rand.New(rand.NewPCG(7, uint64(10*c.uneven)))
		var ratios []float64
		plain, held := 0, 0
		for range studies {
			var effects []float64
			var all [][]float64
			for range rounds {
				scale := math.Exp(c.uneven * r.NormFloat64())
				shift := 0.5 * r.NormFloat64()
				var b []float64
				for range blocks {
					b = append(b, shift+scale*r.NormFloat64())
				}
				all, effects = append(all, b), append(effects, HodgesLehmann(b))
			}
			lo, hi, _ := Interval(effects, alpha)
			slo, shi, ok := studentisedInterval(effects, scalesOf(all), alpha)
			if !ok {
				t.Fatal("no interval")
			}
			if lo <= 0 && 0 <= hi {
				plain++
			}
			if slo <= 0 && 0 <= shi {
				held++
			}
			ratios = append(ratios, (shi-slo)/(hi-lo))
		}
		t.Logf("%s: width %.3f of the plain one (median), coverage %.1f %% (plain %.1f %%)", c.name, Median(ratios), 100*float64(held)/float64(studies), 100*float64(plain)/float64(studies))
		if low, _ := ClopperPearson(held, studies, 0.001); low > 0.96 || float64(held)/float64(studies) < 0.94 {
			t.Errorf("%s: coverage %d of %d", c.name, held, studies)
		}
	}
}
