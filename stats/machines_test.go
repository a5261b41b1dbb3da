package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The tables of Student's t and of F, and Cauchy's distribution, which is t with
// one degree of freedom.
func TestDistributions(t *testing.T) {
	for _, c := range []struct{ p, free, want float64 }{
		{0.975, 1, 12.7062}, {0.975, 2, 4.3027}, {0.975, 4, 2.7764}, {0.975, 30, 2.0423}, {0.995, 5, 4.0321}, {0.95, 10, 1.8125},
	} {
		if got := studentQuantile(c.p, c.free); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("t(%g; %g) = %g, want %g", c.p, c.free, got, c.want)
		}
	}
	for _, c := range []struct{ f, a, b, want float64 }{
		{3.8853, 2, 12, 0.05}, {6.9266, 2, 12, 0.01}, {19.0, 2, 2, 0.05}, {4.9646, 1, 10, 0.05}, {2.2662, 9, 25, 0.0515},
	} {
		if got := aboveF(c.f, c.a, c.b); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("P(F(%g,%g) > %g) = %g, want %g", c.a, c.b, c.f, got, c.want)
		}
	}
	for x := 0.01; x < 1; x += 0.07 {
		if got := incompleteBeta(1, 1, x); math.Abs(got-x) > 1e-12 {
			t.Errorf("I_%g(1,1) = %g", x, got)
		}
		if got := incompleteBeta(2.5, 4, x) + incompleteBeta(4, 2.5, 1-x); math.Abs(got-1) > 1e-12 {
			t.Errorf("both sides of %g come to %g", x, got)
		}
	}
}

func TestTrimmed(t *testing.T) {
	// g = 1 of 5: mean of 2, 3, 4; winsorized 2, 2, 3, 4, 4 with squares 4.
	e, ok := Trimmed([]float64{4, 1, 3, 100, 2})
	if !ok || e.Value != 3 || math.Abs(e.Variance-4.0/6) > 1e-12 || e.Free != 2 {
		t.Errorf("%+v, %t", e, ok)
	}
	if _, ok := Trimmed([]float64{1}); ok {
		t.Error("one round has no variance")
	}
}

// A worked example: three estimates, all figures computed by hand.
func TestPool(t *testing.T) {
	p, ok := Pool([]Estimate{{0.1, 0.01, 11}, {0.3, 0.01, 11}, {0.5, 0.01, 11}}, 0.05)
	// Q = (0.04+0+0.04)/0.01 = 8; τ² = (8−2)/(300−100) = 0.03; s² = 0.08/2; half = 4.3027·√(0.04/3).
	want := Pooled{Value: 0.3, Q: 8, I2: 0.75, Between: 0.03, Low: 0.3 - 4.30265*math.Sqrt(0.04/3), High: 0.3 + 4.30265*math.Sqrt(0.04/3)}
	for _, d := range []float64{p.Value - want.Value, p.Q - want.Q, p.I2 - want.I2, p.Between - want.Between, p.Low - want.Low, p.High - want.High} {
		if !ok || math.Abs(d) > 1e-4 {
			t.Fatalf("%+v, want %+v", p, want)
		}
	}
	// The order of machines, and the unit, do not matter.
	turned, _ := Pool([]Estimate{{-1, 1, 11}, {-5, 1, 11}, {-3, 1, 11}}, 0.05)
	if math.Abs(turned.Low+10*p.High) > 1e-9 || math.Abs(turned.I2-p.I2) > 1e-12 {
		t.Errorf("turned and ten times as large: %+v", turned)
	}
	if _, ok := Pool([]Estimate{{0, 1, 5}, {0, 1, 5}}, 0.05); ok {
		t.Error("two machines were pooled")
	}
}

// Counts that never vary: equal ones are equal, others differ.
func TestExactMachines(t *testing.T) {
	same := []Estimate{{2, 0, 11}, {2, 0, 11}, {2, 0, 11}}
	if p, ok := SameEverywhere(same); !ok || p != 1 {
		t.Errorf("equal counts: p = %g", p)
	}
	if p, _ := Pool(same, 0.05); p.Low != 2 || p.High != 2 || p.I2 != 0 {
		t.Errorf("equal counts: %+v", p)
	}
	other := []Estimate{{2, 0, 11}, {2, 0, 11}, {3, 0, 11}}
	if p, _ := SameEverywhere(other); p != 0 {
		t.Errorf("other counts: p = %g", p)
	}
	if p, _ := Pool(other, 0.05); p.I2 != 1 || !(p.Low < 7.0/3 && 7.0/3 < p.High) {
		t.Errorf("other counts: %+v", p)
	}
	if _, ok := SameEverywhere(same[:1]); ok {
		t.Error("one machine differs from no other")
	}
}

// simulateMachines simulates the estimates of machines, from 18 rounds each. Rounds have
// noise of 2 %, and one in twenty has ten times as much. The values of machines vary by
// between.
func simulateMachines(rng *rand.Rand, machines int, value, between float64) []Estimate {
	var out []Estimate
	for range machines {
		at := value + between*rng.NormFloat64()
		var rounds []float64
		for range 18 {
			noise := 0.02
			if rng.IntN(20) == 0 {
				noise = 0.2
			}
			rounds = append(rounds, at+noise*rng.NormFloat64())
		}
		e, _ := Trimmed(rounds)
		out = append(out, e)
	}
	return out
}

// The laws of verdicts over machines, at three machines of 18 rounds: a planted
// effect of the machine is found, none is not found where there is none, and
// the interval over machines holds the mean as often as it says.
func TestLawsOverMachines(t *testing.T) {
	runs := chooseCount(3000, 6000)
	rng := rand.New(rand.NewPCG(23, 1))
	found, planted, wrong := 0, 0, 0
	for range runs {
		if p, _ := SameEverywhere(simulateMachines(rng, 3, 0.1, 0)); p <= MachinesDiffer {
			wrong++
		}
		// An effect on one machine only: 0.8 there, none on two.
		m := append(simulateMachines(rng, 2, 0, 0), simulateMachines(rng, 1, math.Log(0.95), 0)...)
		planted++
		if p, _ := SameEverywhere(m); p <= MachinesDiffer {
			found++
		}
	}
	t.Logf("5 %% on one of three: found in %.1f %%; none: found in %.2f %%", 100*float64(found)/float64(planted), 100*float64(wrong)/float64(runs))
	if float64(found) < 0.9*float64(planted) {
		t.Errorf("a planted effect of the machine was found in %d of %d", found, planted)
	}
	if float64(wrong) > 0.05*float64(runs) {
		t.Errorf("machines that do not differ were said to in %d of %d", wrong, runs)
	}
	for _, machines := range []int{3, 5, 10} {
		for _, between := range []float64{0, 0.005, 0.05} {
			held := 0
			for range runs / 2 {
				if p, _ := Pool(simulateMachines(rng, machines, 0.1, between), 0.05); p.Low <= 0.1 && 0.1 <= p.High {
					held++
				}
			}
			share := float64(held) / float64(runs/2)
			t.Logf("%d machines that vary by %.3f: the interval held the mean in %.1f %%", machines, between, 100*share)
			if share < 0.94 {
				t.Errorf("%d machines, %.3f between: coverage %.3f", machines, between, share)
			}
		}
	}
}
