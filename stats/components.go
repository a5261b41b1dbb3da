package stats

// Variance is the variance of the logarithm of a ratio, in two components.
type Variance struct {
	Within  float64 // variance of a block, a few slices of a round
	Between float64 // additional variance of a round, however long
	Rounds  int     // basis of the estimate
}

// Components splits the variance of effects into that of a block within its round, and that between
// rounds. blocks has the effects of each round. ok is false if fewer than two rounds have two
// blocks.
//
// Source: the analysis-of-variance estimator of a one-way random-effects model (S. R. Searle, G.
// Casella, C. E. McCulloch, "Variance Components", 1992, §3.6).
func Components(blocks [][]float64) (within, between float64, ok bool) {
	var means []float64
	var squares, free, inverse float64 // sums of squares within rounds, degrees of freedom, 1/length
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
	// The variance of a round's mean is between + within/length, and inverse/n is the mean of
	// 1/length.
	return within, max(0, spread/(n-1)-within*inverse/n), true
}

func computeMean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
