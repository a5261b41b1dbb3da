package stats

// Variance is the variance of the logarithm of the ratio of two contenders: from slice to slice
// within a round, and from round to round in addition to that.
type Variance struct {
	Within  float64 // of one slice
	Between float64 // of one round, with endless slices
	Rounds  int     // it was estimated from
}

// Components splits what varies in the effects of rounds into two variances:
// that of one block within its round, and that of rounds beyond what their
// blocks explain. blocks holds the effects of each round's blocks; rounds with
// fewer than two are ignored. ok is false with fewer than two rounds left. A
// variance between rounds that would be negative is 0.
//
// Source: the analysis-of-variance estimator of a one-way random-effects model
// (S. R. Searle, G. Casella, C. E. McCulloch, "Variance Components", 1992, §3.6).
func Components(blocks [][]float64) (within, between float64, ok bool) {
	var means []float64
	var squares, free, inverse float64
	for _, x := range blocks {
		if len(x) < 2 {
			continue
		}
		m := computeMean(x)
		for _, v := range x {
			squares += (v - m) * (v - m)
		}
		free += float64(len(x) - 1)
		inverse += 1 / float64(len(x))
		means = append(means, m)
	}
	if len(means) < 2 {
		return 0, 0, false
	}
	within = squares / free
	m, spread := computeMean(means), 0.0
	for _, v := range means {
		spread += (v - m) * (v - m)
	}
	n := float64(len(means))
	return within, max(0, spread/(n-1)-within*inverse/n), true
}

func computeMean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
