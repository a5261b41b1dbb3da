package stats

import (
	"math"
	"slices"
)

// This file combines the results of several machines. For example, the ratio of two programs is
// 0.88 on one machine and 0.91 on another: is that more than chance, and what is the mean?

// MinMachines is the least number of machines that can be pooled. With two machines, the interval
// would be too wide to be useful.
const MinMachines = 3

// MachinesDiffer is the level at which machines are reported as different. A few disturbed rounds
// raise the error rate slightly, but not above 5 %.
const MachinesDiffer = 0.04

// Estimate is one machine's estimate of a quantity.
type Estimate struct {
	Value    float64
	Variance float64 // variance of Value
	Free     int     // degrees of freedom of Variance
}

// Trimmed returns the mean of x without a fifth of the values at either end, with its variance from
// the winsorized sample. One disturbed round changes neither much. ok is false if fewer than two
// values remain.
//
// Source: J. W. Tukey, D. H. McLaughlin, "Less vulnerable confidence and significance procedures
// for location based on a single sample: trimming/winsorization 1", Sankhyā A 25 (1963) 331–352.
func Trimmed(x []float64) (e Estimate, ok bool) {
	s := slices.Sorted(slices.Values(x))
	cut := len(s) / 5 // values at either end
	kept := len(s) - 2*cut
	if kept < 2 {
		return Estimate{}, false
	}
	value := computeMean(s[cut : cut+kept])
	for i := range cut { // winsorize: replace each value at an end by the nearest remaining one
		s[i], s[len(s)-1-i] = s[cut], s[cut+kept-1]
	}
	m, squares := computeMean(s), 0.0
	for _, v := range s {
		squares += (v - m) * (v - m)
	}
	return Estimate{Value: value, Variance: squares / float64(kept*(kept-1)), Free: kept - 1}, true
}

// SameEverywhere returns the p-value of the hypothesis that all machines have the same value. The
// statistic is Cochran's Q. Its distribution is approximated by F, because χ² is wrong for
// variances from few rounds. ok is false for fewer than two machines.
//
// Source: B. L. Welch, "On the comparison of several mean values: an alternative approach",
// Biometrika 38 (1951) 330–336; with trimmed means: K. K. Yuen, "The two-sample trimmed t for
// unequal population variances", Biometrika 61 (1974) 165–170.
func SameEverywhere(machines []Estimate) (p float64, ok bool) {
	k := float64(len(machines))
	if k < 2 {
		return 0, false
	}
	if hasExact(machines) {
		return boolToFloat(allEqual(machines)), true
	}
	_, q, weights := weightedMean(machines, 0)
	total, correction := sumOf(weights), 0.0 // correction is Welch's sum, because the variances are estimated
	for i, m := range machines {
		share := 1 - weights[i]/total
		correction += share * share / float64(m.Free)
	}
	f := q / (k - 1) / (1 + 2*(k-2)/(k*k-1)*correction)
	freeBetween, freeWithin := k-1, (k*k-1)/(3*correction) // degrees of freedom of F
	return aboveF(f, freeBetween, freeWithin), true
}

// Pooled is the mean of a quantity over machines that have different values.
type Pooled struct {
	Value     float64 // mean over machines like these
	Low, High float64 // interval of Value
	Between   float64 // variance between machines
	Q         float64 // Cochran's Q
	I2        float64 // I²: share of the variance of the estimates that their rounds do not explain
}

// Pool returns the mean over machines with its interval at 1−alpha. The machines are a sample of
// all machines like these. The variance between them is the estimator of DerSimonian and Laird. The
// interval follows Hartung, Knapp, Sidik and Jonkman, and is at least as wide as the estimates
// require. ok is false for fewer than [MinMachines] machines.
//
// Sources: R. DerSimonian, N. Laird, "Meta-analysis in clinical trials", Control. Clin. Trials 7
// (1986) 177–188; J. Hartung, G. Knapp, "A refined method for the meta-analysis of controlled
// clinical trials with binary outcome", Stat. Med. 20 (2001) 3875–3889; K. Sidik, J. N. Jonkman, "A
// simple confidence interval for meta-analysis", Stat. Med. 21 (2002) 3153–3159; the bound: C.
// Röver, G. Knapp, T. Friede, "Hartung-Knapp-Sidik-Jonkman approach and its modification for
// random-effects meta-analysis with few studies", BMC Med. Res. Methodol. 15 (2015) 99; I²: J. P.
// T. Higgins, S. G. Thompson, "Quantifying heterogeneity in a meta-analysis", Stat. Med. 21 (2002)
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
		halfWidth := t * math.Sqrt(p.Between/(free+1))
		p.Low, p.High = p.Value-halfWidth, p.Value+halfWidth
		p.I2 = 1 - boolToFloat(allEqual(machines))
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
	halfWidth := t * math.Sqrt(max(1, spread/free)/sumOf(weights))
	p.Value, p.Low, p.High = value, value-halfWidth, value+halfWidth
	return p, true
}

// weightedMean returns the weighted mean of machines, the weighted sum of squared distances from
// it, and the weights. The weight of a machine is the inverse of its variance plus between.
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

// hasExact reports whether a machine has no variance, as with counts of allocations. Its weight
// would be infinite.
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

// aboveF returns the probability that F with a and b degrees of freedom exceeds f.
func aboveF(f, a, b float64) float64 { return incompleteBeta(b/2, a/2, b/(b+a*f)) }

// studentQuantile returns the p-quantile of Student's t, for p above 0.5.
func studentQuantile(p, free float64) float64 {
	x := findRoot(func(x float64) bool { return incompleteBeta(free/2, 0.5, x)/2 < 1-p })
	return math.Sqrt(free * (1 - x) / x)
}

// incompleteBeta returns the regularized incomplete beta function I_x(a, b), by a continued
// fraction from the front.
//
// Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 1964, 26.5.8; the
// evaluation: W. J. Lentz, Applied Optics 15 (1976) 668–671.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // the fraction would converge slowly; use the symmetry of I
		return 1 - incompleteBeta(b, a, 1-x)
	}
	const smallest = 1e-300 // in place of 0 in a denominator
	nonzero := func(v float64) float64 {
		if math.Abs(v) < smallest {
			return smallest
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
