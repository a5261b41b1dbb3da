package stats

import (
	"math"
	"slices"
)

// MinMachines is the least number of machines that are pooled: the variance between two has one
// degree of freedom, and an interval from it is next to useless.
const MinMachines = 3

// MachinesDiffer is the level at which machines are reported as different, over the family of all
// comparisons. Occasional disturbed rounds take the test slightly above its level; it stays below 5
// %.
const MachinesDiffer = 0.04

// Estimate is one machine's estimate of a quantity.
type Estimate struct {
	Value    float64
	Variance float64 // of Value
	Free     int     // degrees of freedom of Variance
}

// Trimmed returns the mean of x without a fifth of the values at either end, and its variance from
// the winsorized sample. One disturbed round moves neither much. ok is false if fewer than two
// values remain.
//
// Source: J. W. Tukey, D. H. McLaughlin, "Less vulnerable confidence and
// significance procedures for location based on a single sample:
// trimming/winsorization 1", Sankhyā A 25 (1963) 331–352.
func Trimmed(x []float64) (e Estimate, ok bool) {
	s := slices.Sorted(slices.Values(x))
	cut := len(s) / 5
	left := len(s) - 2*cut
	if left < 2 {
		return Estimate{}, false
	}
	value := computeMean(s[cut : cut+left])
	for i := range cut {
		s[i], s[len(s)-1-i] = s[cut], s[cut+left-1]
	}
	m, squares := computeMean(s), 0.0
	for _, v := range s {
		squares += (v - m) * (v - m)
	}
	return Estimate{Value: value, Variance: squares / float64(left*(left-1)), Free: left - 1}, true
}

// SameEverywhere returns the p-value of the hypothesis that all machines have one
// and the same value: Cochran's Q, referred to the F distribution that allows
// for variances which were estimated from few rounds; by χ² the test would
// find differences too often. ok is false with fewer than two machines.
//
// Source: B. L. Welch, "On the comparison of several mean values: an
// alternative approach", Biometrika 38 (1951) 330–336; with trimmed means:
// K. K. Yuen, "The two-sample trimmed t for unequal population variances",
// Biometrika 61 (1974) 165–170.
func SameEverywhere(machines []Estimate) (p float64, ok bool) {
	k := float64(len(machines))
	if k < 2 {
		return 0, false
	}
	if hasExact(machines) {
		return boolToFloat(allEqual(machines)), true
	}
	_, q, weights := weightedMean(machines, 0)
	total, lack := sumOf(weights), 0.0
	for i, m := range machines {
		share := 1 - weights[i]/total
		lack += share * share / float64(m.Free)
	}
	f := q / (k - 1) / (1 + 2*(k-2)/(k*k-1)*lack)
	return aboveF(f, k-1, (k*k-1)/(3*lack)), true
}

// Pooled is a quantity over machines, each of which has a value of its own.
type Pooled struct {
	Value     float64 // mean over machines like these
	Low, High float64
	Between   float64 // variance between machines
	Q         float64 // Cochran's
	I2        float64 // share of what differs between machines that their rounds do not explain
}

// Pool returns the mean over machines with its interval at 1−alpha, the machine
// being a random effect. The variance between machines is the moment estimator
// of DerSimonian and Laird; the interval is Hartung's, Knapp's, Sidik's and
// Jonkman's, from Student's t with a degree of freedom for each machine but
// one, and never narrower than what the rounds alone allow. ok is false with
// fewer than [MinMachines].
//
// Sources: R. DerSimonian, N. Laird, "Meta-analysis in clinical trials",
// Control. Clin. Trials 7 (1986) 177–188; J. Hartung, G. Knapp, "A refined
// method for the meta-analysis of controlled clinical trials with binary
// outcome", Stat. Med. 20 (2001) 3875–3889; K. Sidik, J. N. Jonkman, "A simple
// confidence interval for meta-analysis", Stat. Med. 21 (2002) 3153–3159; the
// bound: C. Röver, G. Knapp, T. Friede, "Hartung-Knapp-Sidik-Jonkman approach
// and its modification for random-effects meta-analysis with few studies", BMC
// Med. Res. Methodol. 15 (2015) 99; I²: J. P. T. Higgins, S. G. Thompson,
// "Quantifying heterogeneity in a meta-analysis", Stat. Med. 21 (2002)
// 1539–1558.
func Pool(machines []Estimate, alpha float64) (p Pooled, ok bool) {
	if len(machines) < MinMachines {
		return Pooled{}, false
	}
	free := float64(len(machines) - 1)
	t := studentQuantile(1-alpha/2, free)
	if hasExact(machines) {
		var values []float64
		for _, m := range machines {
			values = append(values, m.Value)
		}
		p.Value = computeMean(values)
		for _, v := range values {
			p.Between += (v - p.Value) * (v - p.Value) / free
		}
		half := t * math.Sqrt(p.Between/(free+1))
		p.Low, p.High, p.I2 = p.Value-half, p.Value+half, 1-boolToFloat(allEqual(machines))
		return p, true
	}
	_, q, weights := weightedMean(machines, 0)
	squares := 0.0
	for _, w := range weights {
		squares += w * w
	}
	total := sumOf(weights)
	p.Q, p.I2 = q, max(0, 1-free/q)
	p.Between = max(0, (q-free)/(total-squares/total))
	value, spread, weights := weightedMean(machines, p.Between)
	half := t * math.Sqrt(max(1, spread/free)/sumOf(weights))
	p.Value, p.Low, p.High = value, value-half, value+half
	return p, true
}

// weightedMean returns the mean of machines by the inverse of their variances plus between, and the
// weighted sum of the squares around it.
func weightedMean(machines []Estimate, between float64) (value, squares float64, weights []float64) {
	for _, m := range machines {
		w := 1 / (m.Variance + between)
		weights = append(weights, w)
		value += w * m.Value
	}
	value /= sumOf(weights)
	for i, m := range machines {
		squares += weights[i] * (m.Value - value) * (m.Value - value)
	}
	return value, squares, weights
}

// hasExact reports whether a machine's rounds did not differ at all, as with counts of allocations:
// weights by their variance would be infinite.
func hasExact(machines []Estimate) bool {
	return slices.ContainsFunc(machines, func(m Estimate) bool { return m.Variance == 0 })
}

func allEqual(machines []Estimate) bool {
	return !slices.ContainsFunc(machines, func(m Estimate) bool { return m.Value != machines[0].Value })
}

func boolToFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func sumOf(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// aboveF returns the chance that F with a and b degrees of freedom exceeds f.
func aboveF(f, a, b float64) float64 { return incompleteBeta(b/2, a/2, b/(b+a*f)) }

// studentQuantile returns the p-quantile, above the median, of Student's t.
func studentQuantile(p, free float64) float64 {
	x := findRoot(func(x float64) bool { return incompleteBeta(free/2, 0.5, x)/2 < 1-p })
	return math.Sqrt(free * (1 - x) / x)
}

// incompleteBeta returns the regularized incomplete beta function I_x(a, b), by its
// continued fraction, evaluated from the front.
//
// Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions",
// 1964, 26.5.8; the evaluation: W. J. Lentz, Applied Optics 15 (1976) 668–671.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // if the fraction converges slowly
		return 1 - incompleteBeta(b, a, 1-x)
	}
	const least = 1e-300
	nonzero := func(v float64) float64 {
		if math.Abs(v) < least {
			return least
		}
		return v
	}
	value, c, d := 1.0, 1.0, 0.0
	for i := range 1000 {
		m := float64(i / 2)
		var term float64
		switch {
		case i == 0:
			term = 1
		case i%2 == 0:
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / nonzero(1+term*d)
		c = nonzero(1 + term/c)
		value *= c * d
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return math.Exp(a*math.Log(x)+b*math.Log1p(-x)+lab-la-lb) / a * (value - 1)
}
